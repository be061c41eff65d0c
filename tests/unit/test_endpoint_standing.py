"""How endpoints move from status to status, and what their statuses say together."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.apihost.standing import moved, new_standing, together
from penstock.protocol.status import AgentEndpointManagerStatusEnum2 as All
from penstock.protocol.status import EndpointStatusEnum2 as Status

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_each_move_is_logged_with_its_reason() -> None:
    standing = moved(moved(new_standing(NOW), Status.INITIALIZING, NOW), Status.INITIALIZING_FAILED, NOW, "no index")
    assert (standing.status, standing.previous_status) == (Status.INITIALIZING_FAILED, Status.INITIALIZING)
    assert [(move.new_status, move.message) for move in standing.moves] == [
        (Status.INITIALIZING, None),
        (Status.INITIALIZING_FAILED, "no index"),
    ]


def test_the_latest_hundred_moves_are_kept() -> None:
    standing = moved(moved(new_standing(NOW), Status.INITIALIZING, NOW), Status.READY, NOW)
    for _ in range(100):
        standing = moved(moved(standing, Status.UNHEALTHY, NOW), Status.READY, NOW)
    assert len(standing.moves) == 100
    assert Status.INITIALIZING not in {move.previous_status for move in standing.moves}


def test_a_move_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="from New to Ready"):
        moved(new_standing(NOW), Status.READY, NOW)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], All.EMPTY),
        ([Status.INITIALIZING, Status.NEW, Status.FAILED], All.INITIALIZING),
        ([Status.CHANGED, Status.READY], All.CHANGED),
        ([Status.NEW, Status.FAILED], All.CHANGED),
        ([Status.FAILED, Status.UNHEALTHY, Status.INITIALIZING_FAILED], All.FAILED),
        ([Status.READY, Status.UNHEALTHY], All.PARTIALLY_RUNNING),
        ([Status.READY, Status.READY], All.RUNNING),
    ],
)
def test_the_first_that_holds_counts(statuses: list[Status], expected: All) -> None:
    assert together(statuses) is expected


@given(st.lists(st.sampled_from(Status)))
def test_order_and_repetition_do_not_count(statuses: list[Status]) -> None:
    assert together(statuses) is together([*reversed(statuses), *statuses])
