"""`marshal`: writes the body in a data format."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.dataformat import DataFormat
from penstock.flow.exchange import Exchange
from penstock.flow.step import Step


class Marshal(Step, frozen=True, kw_only=True):
    """Turns the body, such as a map or a list, into bytes in a data format."""

    element = "marshal"

    data_format: Annotated[DataFormat, Meta(description="The data format with its options.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        exchange.body = self.data_format.write(exchange.body)
