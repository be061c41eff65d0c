"""How an endpoint moves from status to status, and what the statuses of all say together."""

from collections.abc import Collection
from datetime import datetime

import msgspec

from penstock.protocol.endpoint import EndpointStanding
from penstock.protocol.status import (
    AgentEndpointManagerStatusEnum2,
    EndpointStatusEnum2,
    StatusLogOfEndpointStatusEnum,
)

_KEPT = 100  # moves
_LONGEST_MESSAGE = 2000  # characters
_Status = EndpointStatusEnum2
_All = AgentEndpointManagerStatusEnum2

_MOVES: dict[_Status, frozenset[_Status]] = {
    _Status.NEW: frozenset({_Status.INITIALIZING, _Status.CHANGED}),
    _Status.INITIALIZING: frozenset({_Status.READY, _Status.INITIALIZING_FAILED, _Status.CHANGED, _Status.NEW}),
    _Status.INITIALIZING_FAILED: frozenset({_Status.INITIALIZING, _Status.FAILED, _Status.CHANGED, _Status.NEW}),
    _Status.READY: frozenset({_Status.UNHEALTHY, _Status.CHANGED, _Status.NEW}),
    _Status.UNHEALTHY: frozenset({_Status.READY, _Status.INITIALIZING, _Status.FAILED, _Status.CHANGED, _Status.NEW}),
    _Status.CHANGED: frozenset({_Status.INITIALIZING, _Status.NEW}),
    _Status.FAILED: frozenset({_Status.CHANGED, _Status.INITIALIZING, _Status.NEW}),
}
"""What may follow each status. New follows where whoever ran the endpoint has ended."""
_DOWN = frozenset({_Status.FAILED, _Status.UNHEALTHY, _Status.INITIALIZING_FAILED})


def new_standing(at: datetime) -> EndpointStanding:
    """Of an endpoint that nothing has been done about yet."""
    return EndpointStanding(status=_Status.NEW, previous_status=_Status.NEW, last_status_update=at)


def moved(
    standing: EndpointStanding, to: EndpointStatusEnum2, at: datetime, message: str | None = None
) -> EndpointStanding:
    """The standing after one move. Raises ValueError for a move that there is not."""
    if to not in _MOVES[standing.status]:
        raise ValueError(f"an endpoint does not move from {standing.status} to {to}")
    text = message[:_LONGEST_MESSAGE] if message is not None else None
    move = StatusLogOfEndpointStatusEnum(previous_status=standing.status, new_status=to, log_time=at, message=text)
    return msgspec.structs.replace(
        standing,
        status=to,
        previous_status=standing.status,
        last_status_update=at,
        moves=[*standing.moves, move][-_KEPT:],
    )


def together(statuses: Collection[EndpointStatusEnum2]) -> AgentEndpointManagerStatusEnum2:
    """What the endpoints of a place say together."""
    found = set(statuses)
    if not found:
        return _All.EMPTY
    if _Status.INITIALIZING in found:
        return _All.INITIALIZING
    if found & {_Status.NEW, _Status.CHANGED}:
        return _All.CHANGED
    if found <= _DOWN:
        return _All.FAILED
    return _All.PARTIALLY_RUNNING if found & _DOWN else _All.RUNNING
