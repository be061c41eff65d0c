"""Cron expressions while the clocks change: the rules by example, then against a clock watched minute by minute."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.cron import Cron
from tests.unit.cron_expressions import MONTH, Expression, Field, expressions, only

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)

CHANGES = {
    # Days around which the zone's clocks change. What is odd about the zone beside it.
    "America/New_York": ("2026-03-08", "2026-11-01"),
    "Europe/Berlin": ("2026-03-29", "2026-10-25"),
    "Europe/Dublin": ("2026-03-29", "2026-10-25"),  # summer is standard time there
    "Australia/Lord_Howe": ("2026-04-04", "2026-10-03"),  # by half an hour
    "Antarctica/Troll": ("2026-03-29", "2026-10-25"),  # by two hours
    "America/Sao_Paulo": ("2018-11-04", "2019-02-17"),  # at midnight
    "America/Havana": ("2026-03-08", "2026-11-01"),  # at midnight; midnight is shown twice
    "Atlantic/Azores": ("2026-03-29", "2026-10-25"),  # midnight is shown twice
    "Africa/Casablanca": ("2026-02-15", "2026-03-22"),  # around Ramadan
    "Pacific/Apia": ("2011-12-30", "2012-04-01"),  # 30 December 2011 was skipped
    "Pacific/Kwajalein": ("1969-09-30", "1993-08-21"),  # a day shown twice; a day skipped
    "Asia/Pyongyang": ("2015-08-15", "2018-05-05"),  # by half an hour, for good
    "Europe/London": ("1968-02-18", "1971-10-31"),  # three years without a change
}


def due_local(expression: str, zone: str, day: str, hours: int = 8) -> list[str]:
    """What the zone's clock shows when the expression is due, from that local midnight on, with the UTC offset."""
    tz = ZoneInfo(zone)
    start = datetime.fromisoformat(day).replace(tzinfo=tz).astimezone(UTC) - timedelta(seconds=1)
    due = Cron.parse(expression).between(start, start + timedelta(hours=hours), tz)
    return [moment.astimezone(tz).strftime("%H:%M:%S %z")[:12] for moment in islice(due, 20)]


SPRING, AUTUMN = ("Europe/Berlin", "2026-03-29", 5), ("Europe/Berlin", "2026-10-25", 5)  # 02:00 -> 03:00 -> 02:00


def test_a_time_in_the_gap_is_due_right_after_the_gap() -> None:
    assert due_local("0 30 2 * * ?", *SPRING) == ["03:00:00 +02"]


def test_all_times_of_the_gap_are_due_together_once() -> None:
    assert due_local("* * 2 * * ?", *SPRING) == ["03:00:00 +02"]
    assert due_local("0 0/10 1-3 * * ?", *SPRING)[5:8] == ["01:50:00 +01", "03:00:00 +02", "03:10:00 +02"]


def test_a_time_in_the_gap_does_not_add_to_one_due_right_after_it() -> None:
    assert due_local("0 0 2,3 * * ?", *SPRING) == ["03:00:00 +02"]


def test_a_time_in_the_gap_is_due_although_the_minutes_after_the_gap_are_not() -> None:
    assert due_local("0 30 2,3 * * ?", *SPRING) == ["03:00:00 +02", "03:30:00 +02"]


def test_every_hour_goes_on_over_the_gap_without_an_extra_tick() -> None:
    assert due_local("0 30 * * * ?", *SPRING)[:3] == ["00:30:00 +01", "01:30:00 +01", "03:30:00 +02"]


def test_every_second_hour_makes_up_for_the_one_in_the_gap() -> None:
    assert due_local("0 0 */2 * * ?", *SPRING) == ["00:00:00 +01", "03:00:00 +02", "04:00:00 +02"]


def test_a_day_that_is_skipped_is_made_up_for_at_the_next_midnight() -> None:
    apia = ZoneInfo("Pacific/Apia")
    due = Cron.parse("0 0 12 30 12 ?").next_after(datetime(2011, 12, 1, tzinfo=UTC), apia)
    assert due is not None
    assert due.astimezone(apia) == datetime(2011, 12, 31, tzinfo=apia)


def test_a_fixed_time_in_the_repeated_hour_is_due_at_its_first_showing() -> None:
    assert due_local("0 30 2 * * ?", *AUTUMN) == ["02:30:00 +02"]
    assert due_local("0 0/20 2 * * ?", *AUTUMN) == ["02:00:00 +02", "02:20:00 +02", "02:40:00 +02"]


@pytest.mark.parametrize("hours", ["*", "*/1", "0/1", "0-23", "5-4", "0,1/1", "12-23,0-11"])
def test_every_hour_is_due_in_both_showings_of_the_repeated_hour(hours: str) -> None:
    assert due_local(f"0 30 {hours} * * ?", *AUTUMN) == [
        "00:30:00 +02",
        "01:30:00 +02",
        "02:30:00 +02",
        "02:30:00 +01",
        "03:30:00 +01",
    ]


@pytest.mark.parametrize("hours", ["*/2", "0/2", "0-23/2", "*/2,5"])
def test_increments_over_the_whole_day_are_due_in_both_showings(hours: str) -> None:
    assert due_local(f"0 0 {hours} * * ?", *AUTUMN) == ["00:00:00 +02", "02:00:00 +02", "02:00:00 +01"]


@pytest.mark.parametrize("hours", ["0,2,4", "0-22/2", "2/2", "1-2,2"])
def test_other_hours_are_due_in_the_first_showing_only(hours: str) -> None:
    assert due_local(f"0 0 {hours} * * ?", *AUTUMN)[-1] == "02:00:00 +02"


def test_a_clock_set_back_just_before_a_utc_year_ends_still_repeats_nothing() -> None:
    sao_tome = ZoneInfo("Africa/Sao_Tome")  # 1884-01-01 00:00:00 became 1883-12-31 22:56:19, at 23:33:04 UTC
    due = Cron.parse("0 30 23 * * ?").between(
        datetime(1883, 12, 31, 12, tzinfo=UTC), datetime(1884, 1, 1, 12, tzinfo=UTC), sao_tome
    )
    assert [moment.isoformat() for moment in due] == ["1883-12-31T23:03:04+00:00"]


def test_the_next_due_time_is_found_from_within_either_showing() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    first, second = (datetime(2026, 10, 25, 2, 30, tzinfo=berlin, fold=fold).astimezone(UTC) for fold in (0, 1))
    fixed, every = Cron.parse("0 30 2 * * ?"), Cron.parse("0 30 * * * ?")
    assert fixed.next_after(first - MINUTE, berlin) == first
    assert fixed.next_after(first, berlin) == second + DAY
    assert fixed.next_after(second - MINUTE, berlin) == second + DAY
    assert every.next_after(first, berlin) == second
    assert every.next_after(second, berlin) == second + timedelta(hours=1)


def test_a_count_over_years_of_clock_changes_is_exact() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    begin, end = datetime(2020, 1, 1, tzinfo=berlin), datetime(2030, 1, 1, tzinfo=berlin)
    assert Cron.parse("* * * * * ?").count_between(begin, end, berlin) == (end - begin) // timedelta(seconds=1)
    # 3,600 a day, but 1 on each of the ten days that skip the hour.
    assert Cron.parse("* * 2 * * ?").count_between(begin, end, berlin) == 3600 * (3653 - 10) + 10


def places() -> st.SearchStrategy[tuple[ZoneInfo, datetime]]:
    """A zone and a moment a day or less before its clocks change, in UTC."""
    changes = [(zone, day) for zone, days in CHANGES.items() for day in days]
    return st.tuples(st.sampled_from(changes), st.integers(-36, 12)).map(
        lambda place: (
            ZoneInfo(place[0][0]),
            datetime.fromisoformat(place[0][1]).replace(tzinfo=UTC) + timedelta(hours=place[1]),
        )
    )


@cache
def shown(zone: ZoneInfo, moment: datetime) -> datetime:
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def watch(expression: Expression, zone: ZoneInfo, after: datetime, until: datetime) -> Iterator[datetime]:
    """The rules carried out by watching the zone's clock minute by minute, from two days before `after`."""
    every_hour = len(expression.hours.values) == 24
    moment = after - 2 * DAY
    furthest = shown(zone, moment)
    while moment < until:
        moment += MINUTE
        clock = shown(zone, moment)
        gap = [] if every_hour else minutes_between(furthest, clock)
        due = expression.matches(clock) and (clock > furthest or expression.hours.spans)
        if moment > after and (due or any(expression.matches(passed) for passed in gap)):
            yield moment
        furthest = max(furthest, clock)


def minutes_between(furthest: datetime, clock: datetime) -> list[datetime]:
    return [furthest + MINUTE * step for step in range(1, (clock - furthest) // MINUTE)]


@st.composite
def hours_around_changes(draw: st.DrawFn) -> Field:
    """Hours at which clocks change, in lists, ranges and increments."""
    text = draw(st.sampled_from(["*", "*/2", "*/3", "0/5", "0-23", "23-22/4", "0,1,2,3,23", "23-3", "1/2", "2", "0"]))
    spans = text in {"*", "*/2", "*/3", "0/5", "0-23", "23-22/4"}
    values = {
        "*/2": range(0, 24, 2),
        "*/3": range(0, 24, 3),
        "0/5": range(0, 24, 5),
        "23-22/4": (23, 3, 7, 11, 15, 19),
        "0,1,2,3,23": (0, 1, 2, 3, 23),
        "23-3": (23, 0, 1, 2, 3),
        "1/2": range(1, 24, 2),
        "2": (2,),
        "0": (0,),
    }
    return Field(text, frozenset(values.get(text, range(24))), spans)


EVERY_MONTH = only("*", *range(1, 13))


@given(
    expressions(seconds=only("0", 0), hours=hours_around_changes(), months=EVERY_MONTH | MONTH),
    places(),
    st.integers(1, 60),
)
def test_due_times_are_those_that_a_watched_clock_gives(
    expression: Expression, place: tuple[ZoneInfo, datetime], hours: int
) -> None:
    zone, after = place
    until = after + timedelta(hours=hours)
    cron = Cron.parse(expression.text)
    due = list(watch(expression, zone, after, until))
    assert list(cron.between(after, until, zone)) == due
    assert cron.count_between(after, until, zone) == len(due)


@given(expressions(hours=hours_around_changes(), months=EVERY_MONTH), places(), st.integers(0, 7200))
def test_the_next_due_time_continues_what_lies_between(
    expression: Expression, place: tuple[ZoneInfo, datetime], seconds: int
) -> None:
    zone, start = place
    start += timedelta(seconds=seconds)
    cron, moment, chain = Cron.parse(expression.text), start, []
    for _ in range(100):
        found = cron.next_after(moment, zone)
        assert found is not None
        chain.append(moment := found)
    assert list(cron.between(start, chain[-1], zone)) == chain
    assert cron.count_between(start, chain[-1], zone) == 100
    assert chain == sorted(set(chain))
