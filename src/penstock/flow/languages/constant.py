"""`constant`: a fixed text."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.language import Language
from penstock.flow.text import Text


class Constant(Language, frozen=True, kw_only=True):
    """The text itself."""

    element = "constant"

    expression: Annotated[Text, Meta(description="The text.")]
    trim: Annotated[bool, Meta(description="Leaves out blanks at both ends.")] = True

    async def evaluate(self, exchange: Exchange, flow: FlowContext) -> str:
        text = await self.expression.resolve(flow.variables)
        return text.strip() if self.trim else text
