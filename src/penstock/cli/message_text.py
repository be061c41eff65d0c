"""Messages of streams as lines for people."""

from datetime import datetime

import msgspec

from penstock.client.model import ScheduleEvent, StreamMessage

_SHOWN_BYTES = 64


def line_of(message: StreamMessage) -> str:
    """One line, or several for a run that wrote several; what schedules tell is put in words."""
    event = _schedule_event(message.data)
    match event.event:
        case "RunStarted":
            return f"started {event.command or ''}".rstrip()
        case "RunFinished":
            return _finished(event)
        case "TicksSkipped" | "TicksMissed":
            return _not_fired(event)
    return _plain(message.data)


def object_of(message: StreamMessage) -> dict[str, object]:
    """The message as JSON has it, its data decoded as far as it is JSON or text."""
    return {
        "Sequence": message.sequence,
        "Timestamp": message.timestamp,
        "Subject": message.subject,
        "Headers": message.headers,
        "Data": _decoded(message.data),
    }


def local_time(moment: datetime) -> str:
    """In this machine's time zone, with milliseconds."""
    return moment.astimezone().isoformat(sep=" ", timespec="milliseconds")


def _schedule_event(data: bytes) -> ScheduleEvent:
    try:
        return msgspec.json.decode(data, type=ScheduleEvent)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ScheduleEvent()


def _finished(event: ScheduleEvent) -> str:
    ending = event.error or f"exit code {event.exit_code}"
    output = (event.output or "").rstrip()
    told = f"finished: {ending}"
    if not output:
        return told
    return f"{told}: {output}" if "\n" not in output else "\n    ".join([told, *output.splitlines()])


def _not_fired(event: ScheduleEvent) -> str:
    outcome = event.event.removeprefix("Ticks").lower()
    times = "1 due time" if event.count == 1 else f"{event.count} due times"
    since = f" since {local_time(event.due)}" if event.due else ""
    return f"{outcome} {times}{since}: {event.reason or 'no reason given'}"


def _decoded(data: bytes) -> object:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _plain(data)


def _plain(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        more = " ..." if len(data) > _SHOWN_BYTES else ""
        return f"{len(data)} bytes: {data[:_SHOWN_BYTES].hex(' ')}{more}"
