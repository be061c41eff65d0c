"""Taking an exchange through steps, one after the other."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.flow.step import Step

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext
    from penstock.flow.exchange import Exchange


async def take_through(steps: Sequence[Step], exchange: "Exchange", flow: "FlowContext") -> None:
    """Does the steps until one stops the exchange. Raises the first error that no error handler has mended."""
    for step in steps:
        handling = exchange.handling
        message = exchange.message() if handling is not None and handling.redelivers else None
        try:
            await step.process(exchange, flow)
        except Exception as error:
            if handling is None or step.handles_errors or exchange.exhausted is error:
                raise
            await handling.handle(step, error, exchange, flow, message)
        if exchange.stopped:
            return
