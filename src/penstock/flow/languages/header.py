"""`header`: the value of a header."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.language import Language


class HeaderValue(Language, frozen=True, kw_only=True):
    """The header of the message, with its type; null when there is none."""

    element = "header"

    expression: Annotated[str, Meta(description="Name of the header.", min_length=1)]
    trim: Annotated[bool, Meta(description="Leaves out blanks at both ends of the name.")] = True

    async def evaluate(self, exchange: Exchange, flow: FlowContext) -> object:
        return exchange.headers.get(self.expression.strip() if self.trim else self.expression)
