"""What agents report of schedules, as entries of the ledger."""

from collections.abc import Iterator, Sequence
from uuid import UUID

import msgspec

from penstock.areas.schedules.ledger_entry import RunEntry, ScheduleTick
from penstock.areas.schedules.model import FLOW_PREFIX
from penstock.kernel.names import name_errors, name_key
from penstock.protocol.report import RunFinished, RunStarted, ScheduleReport, TickReport
from penstock.protocol.web_job import PREFIX as WEB_JOB_PREFIX

_LONGEST_OUTPUT = 64 * 1024  # characters; agents keep to less, and a message has a limit


def ticks_of(agent_id: UUID, report: ScheduleReport) -> Iterator[ScheduleTick]:
    """The due times; those of other flows than schedules' are not kept."""
    for tick in report.ticks:
        if tick.schedule is not None and _belongs(tick):
            yield ScheduleTick(
                schedule=tick.schedule,
                flow=tick.flow,
                version=tick.version,
                agent_id=agent_id,
                due=tick.due,
                last_due=max(tick.due, tick.last_due),
                count=max(1, tick.count),
                outcome=tick.outcome,
                reason=tick.reason,
            )


def runs_of(agent_id: UUID, report: ScheduleReport) -> Iterator[RunEntry]:
    """Begins, then ends."""
    for begun in report.started:
        if begun.schedule is not None and _belongs(begun):
            yield _begin(agent_id, begun.schedule, begun, begun.command)
    for ended in report.finished:
        if ended.schedule is not None and _belongs(ended):
            yield _end(agent_id, ended.schedule, ended)


def with_begins(runs: Sequence[RunEntry]) -> list[RunEntry]:
    """Runs with a begin before each end, for those that were told to have ended only: they never began, or replicas
    take begin and end side by side. A begin that is known already stays.
    """
    entries: list[RunEntry] = []
    for run in runs:
        if run.is_end:
            entries.append(_begin(run.agent_id, run.schedule, run, None))
        entries.append(run)
    return sorted(entries, key=lambda entry: (entry.command is None, entry.is_end))


def _belongs(told: TickReport | RunStarted | RunFinished) -> bool:
    """Whether the flow is the schedule's: the name is in subjects, so what is no name is passed over."""
    schedule = told.schedule or ""
    flow = schedule if schedule.startswith(WEB_JOB_PREFIX) else FLOW_PREFIX + schedule
    return not name_errors("", schedule) and name_key(told.flow) == name_key(flow)


def _begin(agent_id: UUID, schedule: str, run: RunStarted | RunFinished | RunEntry, command: str | None) -> RunEntry:
    return RunEntry(
        run_id=run.run_id,
        is_end=False,
        schedule=schedule,
        version=run.version,
        agent_id=agent_id,
        due=run.due,
        started=run.started,
        command=command,
    )


def _end(agent_id: UUID, schedule: str, run: RunFinished) -> RunEntry:
    begun = _begin(agent_id, schedule, run, None)
    return msgspec.structs.replace(
        begun,
        is_end=True,
        finished=run.finished,
        duration=run.duration,
        exit_code=run.exit_code,
        error=run.error,
        output=run.output[-_LONGEST_OUTPUT:],
        output_bytes=run.output_bytes,
    )
