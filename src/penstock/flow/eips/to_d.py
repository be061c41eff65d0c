"""`toD`: hands the exchange to an endpoint whose uri is made anew for each."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.dynamic_endpoint import send_to
from penstock.flow.dynamic_parameters import DynamicParameters
from penstock.flow.exchange import Exchange
from penstock.flow.simple import DynamicText
from penstock.flow.step import Step


class ToD(Step, frozen=True, kw_only=True):
    """Like `to`, with simple functions in the uri."""

    element = "toD"
    shorthand = "uri"

    uri: Annotated[DynamicText, Meta(description="The endpoint; may hold simple functions.")]
    parameters: Annotated[DynamicParameters, Meta(description="Its options.")] = DynamicParameters()

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        await send_to(await self.parameters.added_to(self.uri, exchange, flow), exchange, flow)
