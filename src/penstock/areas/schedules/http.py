"""Operations on schedules."""

from collections.abc import Sequence

from penstock.areas.schedules.history import ScheduleHistory
from penstock.areas.schedules.ledger_entry import PageFilter, ScheduleRun, ScheduleTick, TickFilter
from penstock.areas.schedules.model import ScheduleDto
from penstock.areas.schedules.service import ScheduleService
from penstock.kernel.actor import Role
from penstock.resource.answer import Encoded
from penstock.resource.operation import operation
from penstock.resource.parameter import Filter


class ScheduleOperations:
    """Schedules, which configuration documents of kind Schedule make, and what they did."""

    def __init__(self, service: ScheduleService, history: ScheduleHistory) -> None:
        self._service = service
        self._history = history

    @operation("GET", "/scheduling/schedules", Role.READER)
    async def schedules(self) -> Sequence[ScheduleDto]:
        """List schedules, newest first."""
        return await self._service.all()

    @operation("GET", "/scheduling/schedules/{name}", Role.READER)
    async def get(self, name: str) -> ScheduleDto:
        """Get a schedule. Its name is compared without case."""
        return (await self._service.named(name)).shown()

    @operation("GET", "/scheduling/schedules/{name}/ticks", Role.READER, beyond=True)
    async def ticks(self, name: str, wanted: Filter[TickFilter]) -> Encoded[list[ScheduleTick]]:
        """List what became of a schedule's due times, newest first.

        Each ends as fired, skipped or missed, on each agent; Reason says why one did not fire. Due times in a row
        that did not fire are one entry, from Due to LastDue. AgentId is null while no agent matched. Entries are
        kept for 30 days. The smaller of Count and Limit holds, 100 unless given, at most 1000.
        """
        return await self._history.ticks(name, wanted)

    @operation("GET", "/scheduling/schedules/{name}/runs", Role.READER, beyond=True)
    async def runs(self, name: str, wanted: Filter[PageFilter]) -> Encoded[list[ScheduleRun]]:
        """List the runs of a schedule's command, newest first.

        Finished is null while a run goes on. ExitCode is null when the command never started or was killed; Error
        then says why. Output is the end of what it wrote.
        """
        return await self._history.runs(name, wanted)

    @operation("GET", "/automation/webjob/{name}/ticks", Role.READER, beyond=True)
    async def ticks_of_web_job(self, name: str, wanted: Filter[TickFilter]) -> Encoded[list[ScheduleTick]]:
        """List what became of the due times of a web job with a cron expression, as those of a schedule."""
        return await self._history.ticks_of_web_job(name, wanted)

    @operation("GET", "/automation/webjob/{name}/runs", Role.READER, beyond=True)
    async def runs_of_web_job(self, name: str, wanted: Filter[PageFilter]) -> Encoded[list[ScheduleRun]]:
        """List the runs of a web job with a cron expression, as those of a schedule."""
        return await self._history.runs_of_web_job(name, wanted)
