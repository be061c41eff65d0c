"""Work beside the requests: events matched, what they trigger run, due schedules seen to."""

import asyncio

from penstock.areas.triggers.event_matches import EventMatches, triggered_consumer
from penstock.areas.triggers.event_runs import AT_ONCE, EventRuns
from penstock.areas.triggers.policy import TriggerPolicy
from penstock.areas.triggers.schedule_runs import ScheduleRuns
from penstock.areas.triggers.timetable import Timetable, due_schedules
from penstock.areas.triggers.web_runs import WebRuns
from penstock.bus.bus import Bus
from penstock.bus.consumer import Consumer
from penstock.bus.single_reader import SingleReader
from penstock.kernel.clock import Clock
from penstock.protocol.event_streams import EVENTS
from penstock.resource.area import Worker
from penstock.resource.repeated import Repeated

_PACE = 0.05
_SCHEDULES = 32


class EventMatching(Worker):
    """Finds what accepted events trigger, on one replica at a time."""

    def __init__(self, bus: Bus, matches: EventMatches) -> None:
        self._bus = bus
        self._matches = matches

    async def run(self) -> None:
        await self._matches.ensure()
        await SingleReader(self._bus, EVENTS, "event-triggers").run(self._matches.take, pace=_PACE)


class EventTriggerRunner(Worker):
    """Runs this replica's share of what was triggered."""

    def __init__(self, bus: Bus, matches: EventMatches, runs: EventRuns) -> None:
        self._bus = bus
        self._matches = matches
        self._runs = runs

    async def run(self) -> None:
        await self._matches.ensure()
        consumer = Consumer(self._bus, triggered_consumer())
        await consumer.run(self._runs.see_to, concurrency=AT_ONCE, ahead=AT_ONCE)


class ScheduleRunner(Worker):
    """Sees to this replica's share of the due times."""

    def __init__(self, bus: Bus, timetable: Timetable, runs: ScheduleRuns) -> None:
        self._bus = bus
        self._timetable = timetable
        self._runs = runs

    async def run(self) -> None:
        await self._timetable.ensure()
        await Consumer(self._bus, due_schedules()).run(self._runs.see_to, concurrency=_SCHEDULES, ahead=_SCHEDULES)


class ScheduleRepair(Repeated):
    """Looks for schedules that nobody sees to, should a process have died between two steps."""

    def __init__(self, clock: Clock, runs: ScheduleRuns, policy: TriggerPolicy) -> None:
        super().__init__(clock, policy.repair, runs.repair, at_once=False)


class WebRunsGoingOn(Worker):
    """Waits for the end of runs that no request waits for any longer."""

    def __init__(self, runs: WebRuns) -> None:
        self._runs = runs

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                group.create_task(self._runs.see_out(*await self._runs.going_on.get()), name="web run")
