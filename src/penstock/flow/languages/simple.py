"""`simple`: a text with functions in it."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.language import Language
from penstock.flow.simple import SimpleTemplate


class Simple(Language, frozen=True, kw_only=True):
    """A text with functions like `${body}`; a function alone keeps the type of its value."""

    element = "simple"

    expression: Annotated[SimpleTemplate, Meta(description="The text with its functions.")]
    trim: Annotated[bool, Meta(description="Leaves out blanks at both ends.")] = True

    async def evaluate(self, exchange: Exchange, flow: FlowContext) -> object:
        template = self.expression.trimmed() if self.trim else self.expression
        return await template.evaluate(exchange, flow)
