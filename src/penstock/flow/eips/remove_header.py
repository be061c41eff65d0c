"""`removeHeader`: takes a header from the message."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.step import Step


class RemoveHeader(Step, frozen=True, kw_only=True):
    """Takes a header from the message, if it is there."""

    element = "removeHeader"
    shorthand = "name"

    name: Annotated[str, Meta(description="Name of the header.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        exchange.headers.pop(self.name, None)
