"""How event sources move from status to status."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connectors import source_status
from penstock.protocol.event_source import EventSourceStatus, EventSourceStatusEnum

Step = Callable[[EventSourceStatus, datetime], EventSourceStatus]
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
STEPS: dict[str, Step] = {
    "initializing": source_status.initializing,
    "starting": source_status.starting,
    "started": source_status.started,
    "failed": lambda status, at: source_status.failed(status, at, "a reason"),
    "stopped": source_status.stopped,
    "removed": source_status.removed,
}
NEXT = {
    "New": {"Initializing", "Removed"},
    "Initializing": {"Initialized", "InitializingFailed", "Stopping"},
    "InitializingFailed": {"Initializing", "Stopping"},
    "Initialized": {"Starting", "Stopping"},
    "Starting": {"Started", "Failed", "Stopping"},
    "Started": {"Stopping", "Failed"},
    "Failed": {"Starting", "Stopping"},
    "Stopping": {"Stopped"},
    "Stopped": {"Initializing", "Removed"},
    "Removed": {"Initializing"},
}
FALLIBLE = {"Initializing", "InitializingFailed", "Starting", "Started", "Failed"}


def after(*steps: str) -> EventSourceStatus:
    status = source_status.new_status(BEGIN)
    for count, step in enumerate(steps, 1):
        status = STEPS[step](status, BEGIN + timedelta(seconds=count))
    return status


def path(status: EventSourceStatus) -> list[str]:
    return [str(move.new_status) for move in status.messages or ()]


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        (["started"], ["Initializing", "Initialized", "Starting", "Started"]),
        (["initializing", "failed"], ["Initializing", "InitializingFailed"]),
        (
            ["started", "failed", "started"],
            ["Initializing", "Initialized", "Starting", "Started", "Failed", "Starting", "Started"],
        ),
        (
            ["started", "removed"],
            ["Initializing", "Initialized", "Starting", "Started", "Stopping", "Stopped", "Removed"],
        ),
        (["removed"], ["Removed"]),
    ],
)
def test_the_way_of_a_source(steps: list[str], wanted: list[str]) -> None:
    assert path(after(*steps)) == wanted


def test_a_failure_carries_its_reason_and_the_latest_stays() -> None:
    status = source_status.failed(after("started", "failed"), BEGIN, "another reason")
    assert path(status)[-1] == "Failed"
    assert [move.message for move in status.messages or ()][-1] == "another reason"


def test_a_move_that_there_is_not_is_an_error() -> None:
    with pytest.raises(ValueError, match="from New to Started"):
        source_status.moved(source_status.new_status(BEGIN), EventSourceStatusEnum.STARTED, BEGIN)


@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=12))
def test_every_move_is_an_allowed_one_and_logged_in_its_order(steps: list[str]) -> None:
    status = source_status.new_status(BEGIN)
    for count, step in enumerate(steps, 1):
        if step == "failed" and status.status not in FALLIBLE:
            continue  # what is at rest cannot fail
        status = STEPS[step](status, BEGIN + timedelta(seconds=count))
    moves = list(status.messages or ())
    for earlier, later in pairwise(moves):
        assert earlier.new_status is later.previous_status
        assert earlier.log_time <= later.log_time
    assert all(str(move.new_status) in NEXT[str(move.previous_status)] for move in moves)


def test_only_the_latest_moves_are_kept() -> None:
    status = after(*["started", "stopped"] * 50)
    assert len(status.messages or ()) == 100
    assert path(status)[-1] == "Stopped"
