"""`multicast`: takes copies of a message through several steps."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.fan_out import FanOut, Part
from penstock.flow.step import Step


class Multicast(Step, frozen=True, kw_only=True):
    """Gives each of its steps a copy of the message; the message of the last one goes on.

    An error that was handled in one of them ends the exchange, as does a `stop` in the last one.

    Sets the properties CamelMulticastIndex, from 0, and CamelMulticastComplete of each copy.
    """

    element = "multicast"

    parallel_processing: Annotated[bool, Meta(description="Does the steps side by side.")] = False
    stop_on_exception: Annotated[bool, Meta(description="Stops at the first step that fails.")] = False
    steps: Annotated[tuple[Step, ...], Meta(description="The steps, each with a copy of its own.")] = ()

    @property
    def handles_errors(self) -> bool:
        return True  # those of its steps have their own handling, as in Camel

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        ended: list[Exchange] = []
        parts = list(self._parts(exchange))
        try:
            await FanOut(flow, self.parallel_processing, self.stop_on_exception, ended.append).take(parts, exchange)
        finally:
            last = next((part.exchange for part in reversed(parts) if part.exchange in ended), None)
            if last is not None:
                exchange.take(last.message())
                exchange.properties |= last.properties
                exchange.handled = any(part.exchange.handled for part in parts)
                exchange.stopped = last.stopped or exchange.handled

    def _parts(self, exchange: Exchange) -> Iterator[Part]:
        for index, step in enumerate(self.steps):
            copy = exchange.copy()
            copy.properties |= {
                "CamelMulticastIndex": index,
                "CamelMulticastComplete": index == len(self.steps) - 1,
            }
            yield Part(copy, (step,))
