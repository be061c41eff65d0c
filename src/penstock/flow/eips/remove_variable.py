"""`removeVariable`: takes a variable from the exchange."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.step import Step


class RemoveVariable(Step, frozen=True, kw_only=True):
    """Takes a variable from the exchange, if it is there."""

    element = "removeVariable"
    shorthand = "name"

    name: Annotated[str, Meta(description="Name of the variable.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        exchange.variables.pop(self.name, None)
