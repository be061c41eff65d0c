"""The native flow engine: thousands of small flows in one process."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from importlib.metadata import version
from time import perf_counter
from types import TracebackType
from typing import Self

import msgspec

from penstock.flow.command import AGENT_MARKER, CommandRunner, base_environment
from penstock.flow.context import FlowContext
from penstock.flow.definition import FlowDefinition
from penstock.flow.exchange import Exchange
from penstock.flow.intake import Intake
from penstock.flow.listener import FlowListener, Level, Tick
from penstock.flow.parser import parse_flow
from penstock.flow.route import Route
from penstock.flow.running import FlowState, FlowStatus, RunningFlow
from penstock.flow.timetable import Ring, Timetable
from penstock.flow.variables import Resolve, Variables
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound

VERSION = f"penstock {version('penstock')}"


class EngineSettings(msgspec.Struct, frozen=True, kw_only=True):
    """agent_run: marks every command's environment, so that a watchdog finds what is left.

    environment: of commands; None for the harmless part of this process's own.
    late: how late a tick may still fire. grace: for exchanges in flight when the engine ends.
    kept_output: bytes kept of what a command writes. parallel_commands: more wait for their turn.
    patience: how long a command that is to end gets before it is killed.
    """

    agent_run: str = ""
    environment: Mapping[str, str] | None = None
    late: timedelta = timedelta(seconds=60)
    grace: timedelta = timedelta(seconds=5)
    kept_output: int = 65_536
    parallel_commands: int = 256
    patience: timedelta = timedelta(seconds=2)


class FlowEngine:
    """Runs flows within `async with`; everything it started has ended when the block is left.

    zone: of wall-clock times, hashable. listener: is told what happens. resolve: answers variables.
    """

    def __init__(
        self,
        clock: Clock,
        zone: tzinfo,
        listener: FlowListener,
        resolve: Resolve,
        settings: EngineSettings | None = None,
    ) -> None:
        self._settings = settings or EngineSettings()
        self._clock = clock
        self._zone = zone
        self._listener = listener
        self._variables = Variables(resolve)
        self._commands = _runner(self._settings)
        self._timetable = Timetable(clock, self._deliver, self._settings.late)
        self._flows: dict[str, RunningFlow] = {}
        self._tasks = asyncio.TaskGroup()
        self._server: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._server = self._tasks.create_task(self._timetable.serve())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            grace = self._settings.grace if error is None else timedelta()
            async with asyncio.TaskGroup() as stopping:
                for name in self.names():
                    stopping.create_task(self.stop(name, grace))
        finally:
            if self._server is not None:
                self._server.cancel()
            await self._tasks.__aexit__(kind, error, trace)

    @property
    def version(self) -> str:
        return VERSION

    def names(self) -> list[str]:
        """The flows that run, sorted."""
        return sorted(self._flows)

    def status(self, name: str) -> FlowStatus:
        """Raises NotFound for a flow that does not run."""
        return self._flow(name).status(self._clock.now())

    async def start(self, definition: FlowDefinition, since: datetime | None = None) -> datetime:
        """Starts the flow, in place of the version that runs.

        since: when a flow that does not run yet became due to run. Due times after it that have passed fire at once,
        those older than the engine's `late` are told as missed. A version that runs keeps what was due so far.

        Answers the moment from which it counts: due times up to then are the old version's, later ones the new
        one's. Exchanges of the old version go on. Raises what a component's start raises, NotFound for a variable
        that an option needs, InvalidFlow when its value does not fit; then the old version runs on.
        """
        definition = await self._completed(definition)
        while True:
            flow = self._flows.get(definition.name)
            if flow is None:
                return await self._start_first(definition, since)
            async with flow.change:
                if self._flows.get(definition.name) is flow:
                    return await self._replace(flow, definition)

    async def stop(self, name: str, grace: timedelta) -> None:
        """Stops the flow; exchanges in flight get `grace` to finish, then they are ended.

        Whatever was due before still fires. Raises NotFound for a flow that does not run.
        """
        flow = self._flow(name)
        async with flow.change:
            if self._flows.get(name) is not flow:
                return
            flow.state = FlowState.STOPPING
            await self._close_intakes(flow.intakes, self._clock.now())
            await _drain(flow.inflight, grace)
            del self._flows[name]

    def _flow(self, name: str) -> RunningFlow:
        flow = self._flows.get(name)
        if flow is None:
            raise NotFound(f"flow '{name}' does not run here")
        return flow

    async def _completed(self, definition: FlowDefinition) -> FlowDefinition:
        """The definition with its routes, when they depend on variables."""
        if not definition.needs:
            return definition
        variables = self._variables.with_own(definition.variables)
        values = {
            name: (await variables.get_public(name, "an option that decides how a flow runs")).value
            for name in definition.needs
        }
        parsed = parse_flow(definition.name, definition.version, definition.source, values)
        return msgspec.structs.replace(definition, routes=parsed.routes, needs=parsed.needs)

    async def _start_first(self, definition: FlowDefinition, since: datetime | None) -> datetime:
        flow = RunningFlow(definition, self._clock.now())
        self._flows[definition.name] = flow
        async with flow.change:
            try:
                return await self._replace(flow, definition, since)
            except BaseException:
                del self._flows[definition.name]
                raise

    async def _replace(self, flow: RunningFlow, definition: FlowDefinition, since: datetime | None = None) -> datetime:
        before, after = flow.intakes, await self._open_intakes(flow, definition)
        # Nothing waits from here to the end of the swap, so no due time falls between the versions.
        now = self._clock.now()
        moment = now if since is None else min(since, now)
        for intake in before:
            intake.end_ticks(moment)
        for intake in after:
            intake.begin(now, moment)
        flow.take_over(definition, after, now)
        for intake in before:
            await intake.close()
        return moment

    async def _open_intakes(self, flow: RunningFlow, definition: FlowDefinition) -> list[Intake]:
        context = FlowContext(
            definition.name,
            definition.version,
            self._clock,
            self._listener,
            self._variables.with_own(definition.variables),
            self._commands,
        )
        intakes: list[Intake] = []
        try:
            for route in definition.routes:
                intake = self._intake(flow, context, route)
                intakes.append(intake)
                await intake.open(route.consumer)
        except BaseException:
            for intake in intakes:
                await intake.close()
            raise
        return intakes

    def _intake(self, flow: RunningFlow, context: FlowContext, route: Route) -> Intake:
        def accept(exchange: Exchange) -> asyncio.Task[None]:
            task = self._tasks.create_task(self._process(flow, context, route, exchange))
            flow.inflight.add(task)
            task.add_done_callback(flow.inflight.discard)
            return task

        return Intake(context, route.id, self._zone, self._timetable, accept)

    async def _close_intakes(self, intakes: Sequence[Intake], until: datetime) -> None:
        for intake in intakes:
            intake.end_ticks(until)
        await self._timetable.passed(until)
        for intake in intakes:
            await intake.close()

    async def _process(self, flow: RunningFlow, context: FlowContext, route: Route, exchange: Exchange) -> None:
        """Takes one exchange through its route, and counts it."""
        begin = perf_counter()
        failed = True
        flow.statistics.created(exchange.created)
        try:
            await route.process(exchange, context)
            flow.error = None
            failed = False
        except Exception as error:  # noqa: BLE001 - whatever a step raises is this exchange's failure, never the flow's
            flow.error = self._variables.masked(str(error))
            context.log(Level.ERROR, f"Exchange failed: {error}", route.id, exchange.id, error)
        finally:
            flow.statistics.finished(self._clock.now(), perf_counter() - begin, failed)

    async def _deliver(self, rings: Sequence[Ring]) -> None:
        """Accounts for the ticks, then fires those that are not too late."""
        ticks = [self._tick(ring) for ring in rings if ring.alarm.is_tick]
        if ticks:
            await self._listener.ticks(ticks)
        for ring in rings:
            if not ring.missed:
                ring.alarm.ring(ring.due)

    def _tick(self, ring: Ring) -> Tick:
        return Tick(
            flow=ring.alarm.flow.name,
            version=ring.alarm.flow.version,
            due=ring.due,
            last_due=ring.last_due,
            count=ring.count,
            missed=ring.missed,
            reason="agent was suspended or overloaded" if ring.missed else None,
        )


def _runner(settings: EngineSettings) -> CommandRunner:
    environment = settings.environment
    if environment is None:
        environment = base_environment(os.environ)
    if settings.agent_run:
        environment = {**environment, AGENT_MARKER: settings.agent_run}
    return CommandRunner(environment, settings.kept_output, settings.parallel_commands, settings.patience)


async def _drain(tasks: set[asyncio.Task[None]], grace: timedelta) -> None:
    """Returns when all have ended; cancels those that have not after `grace`."""
    if tasks:
        await asyncio.wait(set(tasks), timeout=grace.total_seconds())
    for task in set(tasks):
        task.cancel()
    if tasks:
        await asyncio.wait(set(tasks))
