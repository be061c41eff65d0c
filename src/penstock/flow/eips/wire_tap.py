"""`wireTap`: sends a copy of the exchange elsewhere."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.dynamic_endpoint import send_to
from penstock.flow.dynamic_parameters import DynamicParameters
from penstock.flow.exchange import Exchange
from penstock.flow.headers import Headers
from penstock.flow.simple import DynamicText
from penstock.flow.step import Step


class WireTap(Step, frozen=True, kw_only=True):
    """Sends a copy of the exchange to an endpoint and goes on at once; an error of the copy does not matter here."""

    element = "wireTap"
    shorthand = "uri"

    uri: Annotated[DynamicText, Meta(description="The endpoint; may hold simple functions.")]
    parameters: Annotated[DynamicParameters, Meta(description="Its options.")] = DynamicParameters()
    copy: Annotated[bool, Meta(description="Sends a copy of the message, not an empty one.")] = True
    dynamic_uri: Annotated[bool, Meta(description="Whether the uri may hold simple functions.")] = True

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        uri = await self.parameters.added_to(self.uri, exchange, flow)
        copy = exchange.copy()
        if not self.copy:
            copy.body, copy.headers = None, Headers()
        flow.spawn(copy, send_to(uri, copy, flow))
