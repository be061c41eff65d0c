"""`seda:NAME`: hands the exchange to another route of the same flow, which takes it when it can."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from penstock.flow.component import Consumer, Producer
from penstock.flow.context import FlowContext, NoConsumer
from penstock.flow.exchange import Exchange
from penstock.flow.failures.errors import FlowError
from penstock.flow.intake import Intake
from penstock.flow.period import Period
from penstock.flow.waiting_line import QueueFull, WaitingLine


class ExchangeTimedOut(FlowError):
    """The other route did not end in time."""

    code = "exchange-timed-out"
    title = "The exchange was not answered in time"
    java = ("org.apache.camel.ExchangeTimedOutException", "org.apache.camel.CamelExchangeException")


class WaitForTask(StrEnum):
    """Whether to wait for the other route."""

    NEVER = "Never"
    IF_REPLY_EXPECTED = "IfReplyExpected"
    ALWAYS = "Always"


class Seda(Consumer, Producer, frozen=True, kw_only=True):
    """Puts a copy of the exchange into a queue in memory, from which the route that begins with the name takes it.

    Only routes of the same flow are reached. What waits when the flow stops is in flight: it is done within the grace.
    """

    element = "seda"
    path = "name"

    name: Annotated[str, Meta(description="Name of the queue.", min_length=1)]
    size: Annotated[int, Meta(description="In `from`: how many exchanges may wait.", ge=1, le=100_000)] = 1000
    concurrent_consumers: Annotated[
        int, Meta(description="In `from`: how many exchanges are processed at a time.", ge=1, le=1000)
    ] = 1
    wait_for_task_to_complete: Annotated[
        WaitForTask, Meta(description="In `to`: whether to wait for the other route, and go on with its message.")
    ] = WaitForTask.IF_REPLY_EXPECTED
    timeout: Annotated[Period, Meta(description="In `to`: how long to wait. 0: without end.")] = Period(seconds=30)
    block_when_full: Annotated[bool, Meta(description="In `to`: waits for a place in a full queue.")] = False
    discard_when_full: Annotated[bool, Meta(description="In `to`: drops the exchange when the queue is full.")] = False
    offer_timeout: Annotated[
        Period, Meta(description="In `to`, with blockWhenFull: how long to wait for a place. 0: without end.")
    ] = Period()
    fail_if_no_consumers: Annotated[
        bool, Meta(description="In `to`: fails when no route begins with the name, else the exchange is dropped.")
    ] = False

    async def start(self, intake: Intake) -> None:
        line = await self._line(intake.flow)
        line.open(self.size, self.concurrent_consumers)
        intake.flow.offer(self._address, intake.enter)

    async def send(self, exchange: Exchange, flow: FlowContext) -> None:
        if not flow.offers(self._address):
            if self.fail_if_no_consumers:
                raise NoConsumer(f"no route of this flow begins with '{self._address}'")
            return
        line = await self._line(flow)
        if line.is_full:
            if self.discard_when_full:
                return
            if not self.block_when_full:
                raise QueueFull("Queue full")
            await line.wait_for_place(self.offer_timeout)
        copy, ended = exchange.copy(), asyncio.Event()
        copy.depth = 0  # the route that takes it counts it, as Camel does
        line.enter()
        flow.spawn(copy, self._served(copy, line, ended, flow))
        if self._waits(exchange):
            await self._answer(exchange, copy, ended)

    def _waits(self, exchange: Exchange) -> bool:
        wait = self.wait_for_task_to_complete
        return wait is WaitForTask.ALWAYS or (wait is WaitForTask.IF_REPLY_EXPECTED and exchange.in_out)

    async def _served(self, copy: Exchange, line: WaitingLine, ended: asyncio.Event, flow: FlowContext) -> None:
        try:
            async with line.turn():
                await flow.call(self._address, copy)
        except BaseException as error:
            copy.error = error
            raise
        finally:
            ended.set()

    async def _answer(self, exchange: Exchange, copy: Exchange, ended: asyncio.Event) -> None:
        """Goes on with what the other route made of the copy."""
        try:
            async with asyncio.timeout(self.timeout.total_seconds() or None):
                await ended.wait()
        except TimeoutError:
            raise ExchangeTimedOut(
                "The OUT message was not received within: "
                f"{self.timeout // timedelta(milliseconds=1)} millis on the exchange"
            ) from None
        exchange.take(copy.message())
        exchange.properties |= copy.properties
        if isinstance(copy.error, Exception):
            raise copy.error
        if copy.error is not None:
            raise FlowError(f"'{self._address}' was ended together with its flow")

    async def _line(self, flow: FlowContext) -> WaitingLine:
        return await flow.resource(self._address, _opened)

    @property
    def _address(self) -> str:
        return f"seda:{self.name}"


@asynccontextmanager
async def _opened() -> AsyncIterator[WaitingLine]:
    yield WaitingLine()
