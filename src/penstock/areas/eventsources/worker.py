"""Work beside requests: triggers run, agents answered and told, their reports taken in, catalogs installed."""

import asyncio
from uuid import UUID

import structlog

from penstock.areas.eventsources.assignments import SourceAssignments, SourceCoverage
from penstock.areas.eventsources.catalogs import TOPIC, CatalogService
from penstock.areas.eventsources.instances import InstanceService
from penstock.areas.eventsources.known_kinds import KnownKinds
from penstock.areas.eventsources.policy import EventSourcePolicy
from penstock.areas.eventsources.reports import SourceReports
from penstock.areas.eventsources.stored import CATALOGS, TRIGGERS
from penstock.areas.eventsources.streams import SourceStreams
from penstock.areas.eventsources.trigger_runs import TriggerRuns
from penstock.areas.eventsources.trigger_schedule import TriggerSchedule
from penstock.areas.eventsources.triggers import TriggerService
from penstock.bus.bus import Bus
from penstock.bus.consumer import Consumer
from penstock.bus.due import Due, due_consumer
from penstock.bus.message import Delivered
from penstock.connectors.packaged.process import PackageProcesses
from penstock.kernel.clock import Clock
from penstock.protocol import subjects
from penstock.protocol.event_source import EventReport
from penstock.resource.area import Worker
from penstock.resource.assignment_worker import AssignmentLinks, AssignmentWorker
from penstock.resource.changes import Change, Changes
from penstock.resource.repeated import Repeated
from penstock.resource.reports import AgentReports

log = structlog.get_logger(__name__)

_POLLS = 32
_LISTENERS = 200
_INSTALLATIONS = 2
_INSTALLATION_SECONDS = 60.0
_LOOK_SECONDS = 10.0


class TriggerRunner(Worker):
    """Runs this replica's share of the triggers."""

    def __init__(self, bus: Bus, changes: Changes, schedule: TriggerSchedule, runs: TriggerRuns) -> None:
        self._bus = bus
        self._changes = changes
        self._schedule = schedule
        self._runs = runs

    async def run(self) -> None:
        await self._schedule.ensure()
        polling, listening = self._schedule.consumers()
        following = await self._changes.follow(TRIGGERS.name, self._react)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(Consumer(self._bus, polling).run(self._runs.see_to, concurrency=_POLLS, ahead=_POLLS))
                group.create_task(
                    Consumer(self._bus, listening).run(self._runs.see_to, concurrency=_LISTENERS, ahead=_LISTENERS)
                )
                group.create_task(self._look())
        finally:
            await following.stop()

    async def _react(self, change: Change) -> None:
        self._runs.changed()

    async def _look(self) -> None:
        """A notice may be lost."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self._runs.changed()


class TriggerRepair(Repeated):
    """Looks for triggers that nobody sees to, should a process have died between two steps."""

    def __init__(self, clock: Clock, runs: TriggerRuns, policy: EventSourcePolicy) -> None:
        super().__init__(clock, policy.repair, runs.repair, at_once=False)


class CatalogInstaller(Worker):
    """Installs the packages of new catalogs."""

    def __init__(self, bus: Bus, catalogs: CatalogService) -> None:
        self._bus = bus
        self._catalogs = catalogs

    async def run(self) -> None:
        await Due(self._bus).ensure()
        for id in await self._catalogs.unfinished():
            await self._catalogs.schedule(id)
        spec = due_consumer(TOPIC, ack_seconds=_INSTALLATION_SECONDS)
        await Consumer(self._bus, spec).run(self._install, concurrency=_INSTALLATIONS, ahead=_INSTALLATIONS)

    async def _install(self, message: Delivered) -> None:
        await self._catalogs.install(UUID(message.data.decode()))


class KindRefresh(Worker):
    """Lets this replica know the kinds of catalogs; ends the processes of packages with the server."""

    def __init__(self, changes: Changes, kinds: KnownKinds, processes: PackageProcesses) -> None:
        self._changes = changes
        self._kinds = kinds
        self._processes = processes
        self._changed = asyncio.Event()

    async def run(self) -> None:
        following = await self._changes.follow(CATALOGS.name, self._react)
        try:
            while True:
                self._changed.clear()
                await self._kinds.refresh()
                await _wait(self._changed)
        finally:
            await following.stop()
            await self._processes.close()

    async def _react(self, change: Change) -> None:
        self._changed.set()


class SourceAgents(AssignmentWorker):
    """Gives event sources to agents."""

    def __init__(self, links: AssignmentLinks, assignments: SourceAssignments, coverage: SourceCoverage) -> None:
        super().__init__(links, assignments, coverage)


class SourceReportTaker(Worker):
    """Takes in what agents report."""

    def __init__(self, reports: AgentReports, taken: SourceReports) -> None:
        self._reports = reports
        self._taken = taken

    async def run(self) -> None:
        await self._reports.consume(subjects.EVENTS, EventReport, self._taken.take)


class SourceStreamRepair(Worker):
    """Brings streams and event sources in step, should a process have died between the two."""

    def __init__(self, streams: SourceStreams, policy: EventSourcePolicy) -> None:
        self._streams = streams
        self._policy = policy

    async def run(self) -> None:
        await self._streams.repair_every(self._policy.streams)


class SourceSealRenewal(Worker):
    """Seals secrets anew after the master key was changed; looks once, when the server starts."""

    def __init__(self, instances: InstanceService, triggers: TriggerService) -> None:
        self._instances = instances
        self._triggers = triggers

    async def run(self) -> None:
        await self._instances.renew_seals()
        await self._triggers.renew_seals()
        await asyncio.get_running_loop().create_future()


async def _wait(changed: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(_LOOK_SECONDS):
            await changed.wait()
    except TimeoutError:
        return
