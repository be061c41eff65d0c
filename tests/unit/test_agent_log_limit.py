"""How much flows may log."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.agent.log_limit import Allowance, Dropped, LogLimit


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def limit(seconds: Seconds) -> LogLimit:
    return LogLimit(seconds, Allowance(10, 20), Allowance(1000, 5000))


def test_a_burst_gets_through_and_what_is_more_is_counted_once() -> None:
    limited = limit(Seconds())
    assert [limited.takes("flow", 5) for _ in range(25)] == [True] * 20 + [False] * 5
    assert limited.dropped() == [Dropped("flow", 5, 25)]
    assert limited.dropped() == []


def test_the_allowance_flows_back_with_time() -> None:
    seconds = Seconds()
    limited = limit(seconds)
    while limited.takes("flow", 1):
        pass
    seconds.now += 1
    assert sum(limited.takes("flow", 1) for _ in range(30)) == 10


def test_bytes_are_bounded_as_well_as_lines() -> None:
    limited = limit(Seconds())
    assert [limited.takes("flow", 2000) for _ in range(4)] == [True, True, False, False]


def test_one_line_that_is_longer_than_the_burst_gets_through() -> None:
    limited = limit(Seconds())
    assert [limited.takes("flow", 9000), limited.takes("flow", 1)] == [True, False]


def test_flows_do_not_share_an_allowance() -> None:
    limited = limit(Seconds())
    while limited.takes("loud", 1):
        pass
    assert limited.takes("quiet", 1)


@given(st.lists(st.tuples(st.floats(0, 2), st.integers(0, 3000)), max_size=60))
def test_every_line_is_taken_or_told_as_dropped(lines: list[tuple[float, int]]) -> None:
    seconds = Seconds()
    limited = limit(seconds)
    taken = lost = 0
    for pause, size in lines:
        seconds.now += pause
        taken += limited.takes("flow", size)
        lost += sum(each.lines for each in limited.dropped())
    assert taken + lost == len(lines)
