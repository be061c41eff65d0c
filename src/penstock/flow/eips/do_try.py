"""`doTry`: steps whose errors are caught at once, without error handler."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.branches import DoCatch, DoFinally
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.failures.error_handling import CAUGHT
from penstock.flow.pipeline import take_through
from penstock.flow.step import Step


class DoTry(Step, frozen=True, kw_only=True):
    """Does its steps; an error goes to the first `doCatch` that names it, and `doFinally` is done in any case.

    No error handler looks at what happens within. `${exception}` is the error that was caught.
    """

    element = "doTry"

    steps: Annotated[tuple[Step, ...], Meta(description="The steps that may fail.")] = ()
    do_catch: Annotated[tuple[DoCatch, ...], Meta(description="A list of `exception` names, each with `steps`.")] = ()
    do_finally: Annotated[DoFinally | None, Meta(description="The steps that are done in any case.")] = None

    @property
    def handles_errors(self) -> bool:
        return True

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        handling, exchange.handling = exchange.handling, None
        try:
            await self._try(exchange, flow)
        except Exception as error:
            exchange.properties[CAUGHT] = error
            await self._finish(exchange, flow)
            raise
        else:
            await self._finish(exchange, flow)
        finally:
            exchange.handling = handling

    async def _try(self, exchange: Exchange, flow: FlowContext) -> None:
        try:
            await take_through(self.steps, exchange, flow)
        except Exception as error:  # noqa: BLE001 - the flow's author says what is caught; the rest is raised again
            await self._catch(error, exchange, flow)

    async def _catch(self, error: Exception, exchange: Exchange, flow: FlowContext) -> None:
        """Takes the exchange through the clause for the error. Raises it again when there is none."""
        exchange.properties[CAUGHT] = error
        for clause in self.do_catch:
            if clause.exception.distance(error) is None:
                continue
            if clause.on_when is None or await clause.on_when.matches(exchange, flow):
                exchange.exhausted = None
                await take_through(clause.steps, exchange, flow)
                return
        raise error

    async def _finish(self, exchange: Exchange, flow: FlowContext) -> None:
        if self.do_finally is None or self.do_finally.disabled or exchange.stopped:
            return
        await take_through(self.do_finally.steps, exchange, flow)
