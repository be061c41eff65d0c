"""What schedules did: pages of the ledger."""

from collections.abc import Sequence

from penstock.areas.schedules.ledger_entry import (
    RUNS,
    TICKS,
    PageFilter,
    RunEntry,
    ScheduleRun,
    ScheduleTick,
    TickFilter,
)
from penstock.areas.schedules.service import ScheduleService
from penstock.kernel.errors import NotFound
from penstock.kernel.names import name_key
from penstock.kernel.wire import encode
from penstock.resource.answer import Encoded
from penstock.resource.page import cut, page_size
from penstock.resource.ports.cron_jobs import CronJobs
from penstock.store.store import Store, Where, decode


class ScheduleHistory:
    """Reads of ticks and runs, newest first."""

    def __init__(self, store: Store, schedules: ScheduleService, jobs: CronJobs | None = None) -> None:
        self._store = store
        self._schedules = schedules
        self._jobs = jobs

    async def ticks(self, name: str, wanted: TickFilter) -> Encoded[list[ScheduleTick]]:
        """Raises NotFound."""
        return await self._ticks((await self._schedules.named(name)).name, wanted)

    async def runs(self, name: str, wanted: PageFilter) -> Encoded[list[ScheduleRun]]:
        """Raises NotFound."""
        return await self._runs((await self._schedules.named(name)).name, wanted)

    async def ticks_of_web_job(self, name: str, wanted: TickFilter) -> Encoded[list[ScheduleTick]]:
        """Raises NotFound."""
        return await self._ticks(await self._web_job(name), wanted)

    async def runs_of_web_job(self, name: str, wanted: PageFilter) -> Encoded[list[ScheduleRun]]:
        """Raises NotFound."""
        return await self._runs(await self._web_job(name), wanted)

    async def _web_job(self, name: str) -> str:
        """What a web job's entries are called."""
        jobs = await self._jobs.cron_jobs() if self._jobs is not None else ()
        for job in jobs:
            if name_key(job.name) == name_key(name):
                return job.schedule
        raise NotFound.of("web job with a cron expression", name)

    async def _ticks(self, schedule: str, wanted: TickFilter) -> Encoded[list[ScheduleTick]]:
        where = [Where("schedule", "=", schedule)]
        if wanted.outcome is not None:
            where.append(Where("outcome", "=", wanted.outcome))
        size = page_size(wanted.count, wanted.limit)
        bodies = await self._store.entries(
            TICKS, where, since=wanted.from_date, until=wanted.to_date, skip=wanted.skip, limit=size + 1
        )
        page, following = cut(bodies, size, wanted.skip)
        return Encoded.array(page, following)

    async def _runs(self, schedule: str, wanted: PageFilter) -> Encoded[list[ScheduleRun]]:
        where = [Where("schedule", "=", schedule)]
        size = page_size(wanted.count, wanted.limit)
        bodies = await self._store.entries(
            RUNS, where, since=wanted.from_date, until=wanted.to_date, skip=wanted.skip, limit=size + 1
        )
        page, following = cut([decode(body, RunEntry) for body in bodies], size, wanted.skip)
        return Encoded.array([encode(run) for run in await self._with_ends(page)], following)

    async def _with_ends(self, begins: Sequence[RunEntry]) -> list[ScheduleRun]:
        keys = [_end_key(begin) for begin in begins]
        bodies = await self._store.entries(RUNS, [Where("ended", "in", keys)], limit=len(keys)) if keys else []
        ends = {end.key: end for end in (decode(body, RunEntry) for body in bodies)}
        return [_run(begin, ends.get(key)) for begin, key in zip(begins, keys, strict=True)]


def _end_key(begin: RunEntry) -> str:
    return begin.key.removesuffix("begin") + "end"


def _run(begin: RunEntry, end: RunEntry | None) -> ScheduleRun:
    run = ScheduleRun(
        run_id=begin.run_id,
        agent_id=begin.agent_id,
        version=begin.version,
        due=begin.due,
        started=begin.started,
        command=begin.command,
    )
    if end is not None:
        run.finished, run.duration, run.exit_code = end.finished, end.duration, end.exit_code
        run.error, run.output, run.output_bytes = end.error, end.output, end.output_bytes
    return run
