"""One version of a running flow: its routes open, its exchanges in flight, what it holds open."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta, tzinfo
from time import perf_counter
from typing import Any

from penstock.flow.context import Enter, FlowContext, Spawn
from penstock.flow.definition import FlowDefinition
from penstock.flow.element import Element, elements_of
from penstock.flow.exchange import Exchange
from penstock.flow.intake import Intake
from penstock.flow.listener import Level
from penstock.flow.resources import Resources
from penstock.flow.route import Route
from penstock.flow.running import RunningFlow
from penstock.flow.timetable import Timetable

MakeContext = Callable[[FlowDefinition, Resources, Spawn], FlowContext]


class FlowVersion:
    """From `open` to `release`. tasks: the engine's, within which everything of the flow runs."""

    __slots__ = (
        "_context",
        "_inflight",
        "_intakes",
        "_resources",
        "_tasks",
        "_timetable",
        "_zone",
        "definition",
        "flow",
    )

    def __init__(
        self,
        flow: RunningFlow,
        definition: FlowDefinition,
        tasks: asyncio.TaskGroup,
        timetable: Timetable,
        zone: tzinfo,
        make_context: MakeContext,
    ) -> None:
        self.flow = flow
        self.definition = definition
        self._tasks = tasks
        self._timetable = timetable
        self._zone = zone
        self._resources = Resources(tasks)
        self._inflight: set[asyncio.Task[None]] = set()
        self._intakes: list[Intake] = []
        self._context = make_context(definition, self._resources, self._spawn)

    async def open(self) -> None:
        """Starts everything but the alarms. When something fails to start, all is closed again."""
        try:
            for route in self.definition.routes:
                await self._begin_elements(route)
            for route in self.definition.routes:
                intake = self._intake(route)
                self._intakes.append(intake)
                await intake.open(route.consumer)
        except BaseException:
            await self.close()
            await self.drain(timedelta())
            await self.release()
            raise

    def begin(self, now: datetime, since: datetime) -> None:
        """Ticks due after `since` are this version's."""
        for intake in self._intakes:
            intake.begin(now, since)

    def end_ticks(self, until: datetime) -> None:
        """Ticks due after `until` are not this version's any more."""
        for intake in self._intakes:
            intake.end_ticks(until)

    async def close(self) -> None:
        """Takes no more exchanges but for ticks up to the end that was named."""
        for intake in self._intakes:
            await intake.close()

    async def drain(self, grace: timedelta | None) -> None:
        """Returns when no exchange is in flight; ends those that still are after `grace`."""
        limit = grace.total_seconds() if grace is not None else None
        try:
            async with asyncio.timeout(limit):
                while self._inflight:  # exchanges may bring forth others
                    await asyncio.wait(set(self._inflight))
        except TimeoutError:
            while self._inflight:
                for task in set(self._inflight):
                    task.cancel()
                await asyncio.wait(set(self._inflight))

    async def release(self) -> None:
        """Closes what the version held open."""
        await self._resources.close()

    def is_over(self, until: datetime) -> bool:
        """Whether there is nothing left to wait for or to close, ticks up to `until` included."""
        return not self._inflight and not self._resources and not self._timetable.owes(until)

    async def retire(self, until: datetime) -> None:
        """Goes when its last exchange has ended, that of a tick up to `until` included."""
        await self._timetable.passed(until)
        await self.drain(None)
        await self.release()

    async def _begin_elements(self, route: Route) -> None:
        for part in (route.consumer, *route.steps, *route.handlers):
            for element in elements_of(part):
                if type(element).begin is not Element.begin:
                    await element.begin(self._context)

    def _intake(self, route: Route) -> Intake:
        enter = self._entrance(route)

        def accept(exchange: Exchange) -> asyncio.Task[None]:
            return self._start(exchange, enter(exchange))

        return Intake(self._context, route.id, self._zone, self._timetable, accept, enter, self._serve)

    def _entrance(self, route: Route) -> Enter:
        async def enter(exchange: Exchange) -> None:
            if exchange.depth:
                await route.process(exchange, self._context)
            else:
                await self._count(exchange, route)

        return enter

    async def _count(self, exchange: Exchange, route: Route) -> None:
        begin = perf_counter()
        failed = True
        statistics = self.flow.statistics
        statistics.created(self._context.clock.now())
        try:
            await route.process(exchange, self._context)
            failed = False
        finally:
            statistics.finished(self._context.clock.now(), perf_counter() - begin, failed)

    def _spawn(self, exchange: Exchange, work: Coroutine[Any, Any, None]) -> None:
        self._start(exchange, work)

    def _start(self, exchange: Exchange, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        def ended(task: asyncio.Task[None]) -> None:
            self._inflight.discard(task)
            work.close()  # a task that was cancelled at once never began it
            if task.cancelled() and exchange.error is None:
                exchange.error = asyncio.CancelledError()

        task = self._tasks.create_task(self._process(exchange, work))
        self._inflight.add(task)
        task.add_done_callback(ended)
        return task

    async def _process(self, exchange: Exchange, work: Coroutine[Any, Any, None]) -> None:
        """Sees an exchange to its end, and tells what it failed with."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - whatever a step raises is this exchange's failure, never the flow's
            exchange.error = error
            masked = self._context.variables.masked(str(error))
            self.flow.error = masked
            self._context.log(Level.ERROR, f"Exchange failed: {error}", exchange.route, exchange.id, error)
        except asyncio.CancelledError as error:
            exchange.error = error
            raise
        else:
            self.flow.error = None

    def _serve(self, route: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        async def serve() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001 - told as the flow's crash, which must not be the engine's
                self.flow.crash = self._context.variables.masked(str(error))
                self._context.log(Level.ERROR, f"Flow crashed: {error}", route, None, error)
                self._context.listener.flow_failed(self.definition.name, self.definition.version, self.flow.crash)

        task = self._tasks.create_task(serve())
        task.add_done_callback(lambda _: work.close())  # one that was cancelled at once never began it
        return task
