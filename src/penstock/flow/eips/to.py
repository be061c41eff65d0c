"""`to`: hands the exchange to an endpoint."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.component import Producer
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.step import Step


class To(Step, frozen=True, kw_only=True):
    """Sends the exchange to an endpoint and goes on with what that makes of it."""

    element = "to"
    shorthand = "uri"

    endpoint: Annotated[Producer, Meta(description="The endpoint, given by `uri` and `parameters`.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        await self.endpoint.send(exchange, flow)
