"""`setProperty`: sets a property of the exchange."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.language import Language
from penstock.flow.simple import DynamicText
from penstock.flow.step import Step


class SetProperty(Step, frozen=True, kw_only=True):
    """Sets a property of the exchange to an expression's value."""

    element = "setProperty"

    name: Annotated[DynamicText, Meta(description="Name of the property; may hold simple functions.")]
    expression: Annotated[Language, Meta(description="The property's value.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        name = await self.name.evaluate_text(exchange, flow)
        exchange.properties[name] = await self.expression.evaluate(exchange, flow)
