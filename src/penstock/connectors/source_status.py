"""How an event source moves from status to status; each move is logged with its time."""

from datetime import datetime

import msgspec

from penstock.protocol.event_source import (
    EventSourceStatus,
    EventSourceStatusEnum,
    StatusLogOfEventSourceStatusEnum,
)

_KEPT = 100  # moves
_LONGEST_MESSAGE = 2000  # characters
_Status = EventSourceStatusEnum

_MOVES: dict[_Status, frozenset[_Status]] = {
    _Status.NEW: frozenset({_Status.INITIALIZING, _Status.REMOVED}),
    _Status.INITIALIZING: frozenset({_Status.INITIALIZED, _Status.INITIALIZING_FAILED, _Status.STOPPING}),
    _Status.INITIALIZING_FAILED: frozenset({_Status.INITIALIZING, _Status.STOPPING}),
    _Status.INITIALIZED: frozenset({_Status.STARTING, _Status.STOPPING}),
    _Status.STARTING: frozenset({_Status.STARTED, _Status.FAILED, _Status.STOPPING}),
    _Status.STARTED: frozenset({_Status.STOPPING, _Status.FAILED}),
    _Status.FAILED: frozenset({_Status.STARTING, _Status.STOPPING}),
    _Status.STOPPING: frozenset({_Status.STOPPED}),
    _Status.STOPPED: frozenset({_Status.INITIALIZING, _Status.REMOVED}),
    _Status.REMOVED: frozenset({_Status.INITIALIZING}),
}
"""What may follow each status. One that was removed and comes again begins anew."""
_WAY_UP = {
    _Status.NEW: _Status.INITIALIZING,
    _Status.STOPPED: _Status.INITIALIZING,
    _Status.REMOVED: _Status.INITIALIZING,
    _Status.INITIALIZING_FAILED: _Status.INITIALIZING,
    _Status.INITIALIZING: _Status.INITIALIZED,
    _Status.INITIALIZED: _Status.STARTING,
    _Status.FAILED: _Status.STARTING,
    _Status.STARTING: _Status.STARTED,
    _Status.STOPPING: _Status.STOPPED,
}
_AT_REST = {_Status.NEW, _Status.STOPPED, _Status.REMOVED}
_NOT_READY = {
    _Status.NEW,
    _Status.STOPPING,
    _Status.STOPPED,
    _Status.REMOVED,
    _Status.INITIALIZING,
    _Status.INITIALIZING_FAILED,
}


def new_status(at: datetime) -> EventSourceStatus:
    """The status of a source that nothing has been done about yet."""
    return EventSourceStatus(status=_Status.NEW, previous_status=_Status.NEW, last_status_update=at, messages=[])


def moved(
    status: EventSourceStatus, to: EventSourceStatusEnum, at: datetime, message: str | None = None
) -> EventSourceStatus:
    """The status after one move. message: why, for a failure. Raises ValueError for a move that there is not."""
    if to not in _MOVES[status.status]:
        raise ValueError(f"an event source does not move from {status.status} to {to}")
    move = StatusLogOfEventSourceStatusEnum(
        previous_status=status.status, new_status=to, log_time=at, message=_shortened(message)
    )
    return EventSourceStatus(
        status=to,
        previous_status=status.status,
        last_status_update=at,
        messages=[*(status.messages or ()), move][-_KEPT:],
    )


def initializing(status: EventSourceStatus, at: datetime) -> EventSourceStatus:
    """The status of a source that is being prepared; one that has been prepared stays."""
    while status.status in _NOT_READY and status.status is not _Status.INITIALIZING:
        status = moved(status, _WAY_UP[status.status], at)
    return status


def starting(status: EventSourceStatus, at: datetime) -> EventSourceStatus:
    """The status of a source that has been prepared; one that is started, or fails, stays."""
    while status.status in _NOT_READY or status.status is _Status.INITIALIZED:
        status = moved(status, _WAY_UP[status.status], at)
    return status


def started(status: EventSourceStatus, at: datetime) -> EventSourceStatus:
    """The status of a source that works."""
    while status.status is not _Status.STARTED:
        status = moved(status, _WAY_UP[status.status], at)
    return status


def failed(status: EventSourceStatus, at: datetime, message: str) -> EventSourceStatus:
    """The status after an error. That a source goes on failing is no move; the latest reason is kept."""
    if status.status in (_Status.FAILED, _Status.INITIALIZING_FAILED):
        return _with_reason(status, message)
    to = _Status.INITIALIZING_FAILED if status.status is _Status.INITIALIZING else _Status.FAILED
    return moved(status, to, at, message)


def stopped(status: EventSourceStatus, at: datetime, message: str | None = None) -> EventSourceStatus:
    """The status after the moves that end in Stopped; one that was never begun, or has ended, stays."""
    if status.status in _AT_REST:
        return status
    stopping = status if status.status is _Status.STOPPING else moved(status, _Status.STOPPING, at, message)
    return moved(stopping, _Status.STOPPED, at, message)


def removed(status: EventSourceStatus, at: datetime) -> EventSourceStatus:
    """The status of a source that is gone: stopped first."""
    status = stopped(status, at)
    return status if status.status is _Status.REMOVED else moved(status, _Status.REMOVED, at)


def _with_reason(status: EventSourceStatus, message: str) -> EventSourceStatus:
    messages = list(status.messages or ())
    told = _shortened(message)
    if not messages or messages[-1].message == told:
        return status
    messages[-1] = msgspec.structs.replace(messages[-1], message=told)
    return msgspec.structs.replace(status, messages=messages)


def _shortened(message: str | None) -> str | None:
    return message[:_LONGEST_MESSAGE] if message is not None else None
