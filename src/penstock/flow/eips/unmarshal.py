"""`unmarshal`: reads the body from a data format."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.dataformat import DataFormat
from penstock.flow.exchange import Exchange
from penstock.flow.step import Step


class Unmarshal(Step, frozen=True, kw_only=True):
    """Turns a text or bytes in a data format into maps, lists and plain values."""

    element = "unmarshal"

    data_format: Annotated[DataFormat, Meta(description="The data format with its options.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        exchange.body = self.data_format.read(exchange.body)
