"""What is published into a schedule's stream, so that anyone can follow what it does."""

from datetime import datetime
from uuid import UUID

from penstock.areas.schedules.ledger_entry import RunEntry, ScheduleTick
from penstock.areas.schedules.streams import stream_of
from penstock.bus.message import Message
from penstock.kernel.duration import Duration
from penstock.kernel.wire import Wire, encode
from penstock.resource.owned_streams import subject_of

EVENT = "Penstock-Event"


class RunStartedMessage(Wire):
    """A command began."""

    event: str = "RunStarted"
    schedule: str
    agent_id: UUID
    run_id: UUID
    due: datetime | None = None
    started: datetime
    command: str | None = None


class RunFinishedMessage(Wire):
    """A command ended. ExitCode: null when it never started or was killed; Error then says why."""

    event: str = "RunFinished"
    schedule: str
    agent_id: UUID
    run_id: UUID
    due: datetime | None = None
    started: datetime
    finished: datetime | None = None
    duration: Duration | None = None
    exit_code: int | None = None
    error: str | None = None
    output: str
    output_bytes: int


class TicksMessage(Wire):
    """Due times in a row that did not fire: `TicksSkipped` or `TicksMissed`. AgentId: null when no agent matched."""

    event: str
    schedule: str
    agent_id: UUID | None = None
    due: datetime
    last_due: datetime
    count: int
    reason: str | None = None


def run_message(run: RunEntry, schedule: str) -> Message:
    """The message on a run's begin or end. schedule: its name as it is written."""
    if not run.is_end:
        begun = RunStartedMessage(
            schedule=schedule,
            agent_id=run.agent_id,
            run_id=run.run_id,
            due=run.due,
            started=run.started,
            command=run.command,
        )
        return _message(schedule, begun.event, begun, run.key)
    ended = RunFinishedMessage(
        schedule=schedule,
        agent_id=run.agent_id,
        run_id=run.run_id,
        due=run.due,
        started=run.started,
        finished=run.finished,
        duration=run.duration,
        exit_code=run.exit_code,
        error=run.error,
        output=run.output,
        output_bytes=run.output_bytes,
    )
    return _message(schedule, ended.event, ended, run.key)


def ticks_message(tick: ScheduleTick, schedule: str) -> Message:
    """The message on due times that did not fire. schedule: its name as it is written."""
    event = f"Ticks{tick.outcome.capitalize()}"
    body = TicksMessage(
        event=event,
        schedule=schedule,
        agent_id=tick.agent_id,
        due=tick.due,
        last_due=tick.last_due,
        count=tick.count,
        reason=tick.reason,
    )
    return _message(schedule, event, body, tick.key)


def _message(schedule: str, event: str, body: Wire, key: str) -> Message:
    # What comes again has the same id, so the stream has it once.
    return Message(subject=subject_of(stream_of(schedule)), body=encode(body), headers={EVENT: event}, message_id=key)
