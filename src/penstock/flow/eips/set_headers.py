"""`setHeaders`: sets several headers of the message."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.eips.set_header import SetHeader
from penstock.flow.exchange import Exchange
from penstock.flow.step import Step


class SetHeaders(Step, frozen=True, kw_only=True):
    """Sets headers one after the other; a later one sees those before it."""

    element = "setHeaders"

    headers: Annotated[tuple[SetHeader, ...], Meta(description="A list of headers, each as in `setHeader`.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        for header in self.headers:
            await header.process(exchange, flow)
