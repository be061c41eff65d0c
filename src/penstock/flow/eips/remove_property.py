"""`removeProperty`: takes a property from the exchange."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.step import Step


class RemoveProperty(Step, frozen=True, kw_only=True):
    """Takes a property from the exchange, if it is there."""

    element = "removeProperty"
    shorthand = "name"

    name: Annotated[str, Meta(description="Name of the property.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        exchange.properties.pop(self.name, None)
