"""A route: one consumer and the steps behind it."""

import msgspec

from penstock.flow.component import Consumer
from penstock.flow.context import FlowContext
from penstock.flow.element import Element
from penstock.flow.exchange import Exchange
from penstock.flow.failures.error_handling import ErrorHandling
from penstock.flow.pipeline import take_through
from penstock.flow.step import Step

_FAIL = ErrorHandling(())


class Route(msgspec.Struct, frozen=True):
    """id: unique in its flow. steps: in order, disabled ones left out. handling: of errors; None leaves them alone.

    handlers: the elements that `handling` is made of. keeps_original: whether something
    asks for the message that the exchange began with.
    """

    id: str
    consumer: Consumer
    steps: tuple[Step, ...]
    handling: ErrorHandling | None = _FAIL
    handlers: tuple[Element, ...] = ()
    keeps_original: bool = False

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        """Takes the exchange through every step. Raises the error that nothing has mended."""
        place = exchange.route, exchange.handling
        exchange.route, exchange.handling = self.id, self.handling
        if self.keeps_original and exchange.original is None:
            exchange.original = exchange.message()
        exchange.depth += 1
        try:
            await take_through(self.steps, exchange, flow)
        finally:
            exchange.depth -= 1
            exchange.route, exchange.handling = place
