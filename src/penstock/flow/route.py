"""A route: one consumer and the steps behind it."""

import msgspec

from penstock.flow.component import Consumer
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.step import Step


class Route(msgspec.Struct, frozen=True):
    """id: unique in its flow. steps: in order, disabled ones left out."""

    id: str
    consumer: Consumer
    steps: tuple[Step, ...]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        """Takes the exchange through every step; the first error ends it."""
        for step in self.steps:
            await step.process(exchange, flow)
