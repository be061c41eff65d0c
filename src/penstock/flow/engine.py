"""The native flow engine: thousands of small flows in one process."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from importlib.metadata import version
from types import TracebackType
from typing import TYPE_CHECKING, Self

import msgspec

from penstock.flow.commands.command import AGENT_MARKER, CommandRunner, base_environment
from penstock.flow.context import FlowContext, Spawn
from penstock.flow.definition import FlowDefinition
from penstock.flow.listener import FlowListener, Tick
from penstock.flow.parsing.parser import parse_flow
from penstock.flow.resources import Resources
from penstock.flow.running import FlowStatus, RunningFlow
from penstock.flow.timetable import Ring, Timetable
from penstock.flow.variables import Resolve, Variables
from penstock.flow.version import FlowVersion
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound
from penstock.packages.environment import Environments

if TYPE_CHECKING:
    from penstock.flow.surroundings import FlowSurroundings

VERSION = f"penstock {version('penstock')}"


class EngineSettings(msgspec.Struct, frozen=True, kw_only=True):
    """agent_run: marks every command's environment, so that a watchdog finds what is left.

    environment: of commands; None for the harmless part of this process's own.
    late: how late a tick may still fire. grace: for exchanges in flight when the engine ends.
    kept_output: bytes kept of what a command writes. parallel_commands: more wait for their turn.
    patience: how long a command that is to end gets before it is killed. environments: of packages that bring commands.
    """

    agent_run: str = ""
    environment: Mapping[str, str] | None = None
    late: timedelta = timedelta(seconds=60)
    grace: timedelta = timedelta(seconds=5)
    kept_output: int = 65_536
    parallel_commands: int = 256
    patience: timedelta = timedelta(seconds=2)
    environments: Environments | None = None


class FlowEngine:
    """Runs flows within `async with`; everything it started has ended when the block is left.

    zone: of wall-clock times, hashable. listener: is told what happens. resolve: answers variables.
    surroundings: what flows may use of the place where they run; must be open for as long as the engine.
    """

    def __init__(
        self,
        clock: Clock,
        zone: tzinfo,
        listener: FlowListener,
        resolve: Resolve,
        settings: EngineSettings | None = None,
        surroundings: "FlowSurroundings | None" = None,
    ) -> None:
        self._settings = settings or EngineSettings()
        self._surroundings = surroundings
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
            flow.stopping = True
            await self._end(flow, grace)
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
        flow = RunningFlow(definition.name, self._clock.now())
        self._flows[definition.name] = flow
        async with flow.change:
            try:
                return await self._replace(flow, definition, since)
            except BaseException:
                del self._flows[definition.name]
                raise

    async def _replace(self, flow: RunningFlow, definition: FlowDefinition, since: datetime | None = None) -> datetime:
        before = flow.current
        after = FlowVersion(flow, definition, self._tasks, self._timetable, self._zone, self._context)
        await after.open()
        # Nothing waits from here to the end of the swap, so no due time falls between the versions.
        now = self._clock.now()
        moment = now if since is None else min(since, now)
        if before is not None:
            before.end_ticks(moment)
        after.begin(now, moment)
        flow.take_over(after, now)
        if before is not None:
            await before.close()
            self._retire(flow, before, moment)
        return moment

    def _retire(self, flow: RunningFlow, version: FlowVersion, until: datetime) -> None:
        if version.is_over(until):
            return
        task = self._tasks.create_task(version.retire(until))
        flow.retiring[version] = task
        task.add_done_callback(lambda _: flow.retiring.pop(version, None))

    async def _end(self, flow: RunningFlow, grace: timedelta) -> None:
        """Ends all versions of the flow together."""
        now = self._clock.now()
        retiring = dict(flow.retiring)
        versions = [*retiring] if flow.current is None else [*retiring, flow.current]
        if flow.current is not None:
            flow.current.end_ticks(now)
            await self._timetable.passed(now)
            await flow.current.close()
        async with asyncio.TaskGroup() as ending:
            for version in versions:
                ending.create_task(version.drain(grace))
        if retiring:
            await asyncio.wait(retiring.values())
        if flow.current is not None:
            await flow.current.release()

    def _context(
        self,
        definition: FlowDefinition,
        resources: Resources,
        spawn: Spawn,
    ) -> FlowContext:
        return FlowContext(
            definition.name,
            definition.version,
            self._clock,
            self._listener,
            self._variables.with_own(definition.variables),
            self._commands,
            self._surroundings,
            resources,
            spawn,
            self._zone,
            definition.packages,
        )

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
    return CommandRunner(
        environment, settings.kept_output, settings.parallel_commands, settings.patience, settings.environments
    )
