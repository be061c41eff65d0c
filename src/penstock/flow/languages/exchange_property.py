"""`exchangeProperty`: the value of a property."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.language import Language


class ExchangePropertyValue(Language, frozen=True, kw_only=True):
    """The property of the exchange, with its type; null when there is none."""

    element = "exchangeProperty"

    expression: Annotated[str, Meta(description="Name of the property.", min_length=1)]
    trim: Annotated[bool, Meta(description="Leaves out blanks at both ends of the name.")] = True

    async def evaluate(self, exchange: Exchange, flow: FlowContext) -> object:
        return exchange.properties.get(self.expression.strip() if self.trim else self.expression)
