from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from penstock.agent.due_times import DueTimes
from penstock.flow.parsing.parser import parse_flow
from penstock.kernel.cron import Cron
from penstock.kernel.due_span import Span

ZONE = ZoneInfo("Europe/Berlin")
BEGIN = datetime(2026, 3, 28, tzinfo=UTC)  # the clocks are set forward in the night that follows

crons = st.sampled_from(
    ["* * * * * *", "*/7 * * * * *", "0 */5 * * * ?", "0 30 2 * * ?", "0 0 12 ? * MON-FRI", "0 0 0 29 2 ?"]
)
moments = st.integers(0, 3 * 86_400_000_000).map(lambda micros: BEGIN + timedelta(microseconds=micros))


@given(cron=crons, after=moments, until=moments)
def test_a_span_is_first_last_and_count_of_the_due_times(cron: str, after: datetime, until: datetime) -> None:
    times = list(Cron.parse(cron).between(after, until, ZONE)) if until > after else []
    expected = Span(times[0], times[-1], len(times)) if times else None

    assert DueTimes((Cron.parse(cron),), ZONE).span(after, until) == expected


def test_several_schedules_of_a_flow_count_together() -> None:
    source = """
    - from: {uri: quartz:a, parameters: {cron: '0 0 * * * ?'}, steps: [{log: x}]}
    - from: {uri: quartz:b, parameters: {cron: '0 30 12 * * ?'}, steps: [{log: x}]}
    - from: {uri: timer:c, steps: [{log: x}]}
    """
    due_times = DueTimes.of(parse_flow("f", "1", source), ZONE)

    span = due_times.span(BEGIN, BEGIN + timedelta(days=1))
    assert span == Span(BEGIN + timedelta(hours=1), BEGIN + timedelta(days=1), 24 + 1)


def test_a_flow_without_schedule_has_no_due_times() -> None:
    definition = parse_flow("f", "1", "- from: {uri: timer:c, steps: [{log: x}]}")

    assert DueTimes.of(definition, ZONE).span(BEGIN, BEGIN + timedelta(days=1)) is None


def test_decades_of_seconds_are_counted_at_once() -> None:
    span = DueTimes((Cron.parse("* * * * * *"),), UTC).span(BEGIN, BEGIN + timedelta(days=10_000))

    assert span == Span(BEGIN + timedelta(seconds=1), BEGIN + timedelta(days=10_000), 10_000 * 86_400)
