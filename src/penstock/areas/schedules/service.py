"""Schedules: read over HTTP, changed by configuration documents, each with the flow and the stream that it makes."""

from collections.abc import Sequence

import msgspec

from penstock.areas.schedules.model import CATEGORY, SCHEDULES, Schedule, ScheduleDto
from penstock.flow.commands.scheduled_command import scheduled_command
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.resource.changes import Changes
from penstock.resource.ports.generated_flows import GeneratedFlow, GeneratedFlows
from penstock.resource.resource import Resource
from penstock.store.store import Store
from penstock.store.write import Write


class ScheduleService:
    """Reads, and plans of changes."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, flows: GeneratedFlows) -> None:
        self._changes = changes
        self._flows = flows
        self._schedules = Resource(SCHEDULES, store, changes, clock, kind="schedule")

    async def all(self) -> list[ScheduleDto]:
        """Newest first."""
        return [schedule.shown() for schedule in await self._schedules.decoded()]

    async def named(self, name: str) -> Schedule:
        """Raises NotFound."""
        return await self._schedules.named(name)

    async def find(self, name: str) -> Schedule | None:
        return await self._schedules.find("name", name)

    async def plan_put(self, wanted: Schedule, before: Schedule | None, actor: Actor) -> Sequence[Write]:
        """The writes that make the schedule and its flow what is wanted; none when they are.

        Raises Invalid, NameTaken.
        """
        flow = await self._flows.plan_put(_flow(wanted), actor)
        if before is None:
            return [*self._schedules.plan_create(wanted, actor)[1], *flow]
        after = _described(before, wanted)
        if after == before:
            return flow
        return [*self._schedules.plan_replace(after, before, actor)[1], *flow]

    async def plan_remove(self, schedule: Schedule, actor: Actor) -> Sequence[Write]:
        """The writes that remove the schedule and its flow; the ledger keeps what it did."""
        flow = await self._flows.plan_remove(schedule.flow, actor)
        return [*self._schedules.plan_delete(schedule, actor, schedule.e_tag), *flow]

    async def announce(self, schedule: Schedule) -> None:
        """Tells of the change, once it is committed."""
        await self._flows.announce(schedule.flow)
        await self._changes.tell(SCHEDULES.name, schedule.name)


def _described(schedule: Schedule, wanted: Schedule) -> Schedule:
    return msgspec.structs.replace(
        schedule,
        description=wanted.description,
        cron=wanted.cron,
        command=wanted.command,
        arguments=wanted.arguments,
        requirements=wanted.requirements,
    )


def _flow(schedule: Schedule) -> GeneratedFlow:
    return GeneratedFlow(
        name=schedule.flow,
        category=CATEGORY,
        spec=scheduled_command(schedule.flow, schedule.cron, schedule.command, schedule.arguments),
        requirements=schedule.requirements,
        schedule=schedule.name,
        cron=schedule.cron,
    )
