"""Cron expressions against cronsim, another implementation, wherever both have the same rule.

cronsim looks at clock changes for five fields only, as Debian's cron does: a time in the gap is due right after it,
a time of the repeated hour once, unless minutes or hours begin with `*`. So with clock changes minutes begin with
a number here, and hours either do and leave some out, or are `*`. Its ranges do not wrap, `5-5/2` is `5/2` there, and
its days of the week from Sunday to Sunday make `*/n` another set of days.
"""

from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.cron import Cron
from tests.unit.cron_expressions import DAY_NAMES, MONTH_NAMES

ZONES = [
    "UTC",
    "Europe/Berlin",
    "Europe/Dublin",
    "America/New_York",
    "America/Havana",
    "America/Santiago",
    "America/St_Johns",
    "Africa/Cairo",
    "Atlantic/Azores",
    "Asia/Kathmandu",
    "Asia/Tokyo",
    "Pacific/Auckland",
    "Pacific/Chatham",
]


def ranges(low: int, high: int) -> st.SearchStrategy[str]:
    """Ascending ranges that leave some of the field out, with and without increments."""
    value = st.integers(low, high)
    pairs = st.tuples(value, value).map(sorted).filter(lambda pair: pair[0] < pair[1] and pair != [low, high])
    spread = pairs.map(lambda pair: f"{pair[0]}-{pair[1]}")
    return spread | st.tuples(spread, st.integers(1, high)).map(lambda parts: f"{parts[0]}/{parts[1]}")


def number_lists(low: int, high: int) -> st.SearchStrategy[str]:
    """Values, ascending ranges and increments, each beginning with a number."""
    opened = st.tuples(st.integers(low + 1, high), st.integers(1, high)).map(lambda parts: f"{parts[0]}/{parts[1]}")
    return st.lists(st.integers(low, high).map(str) | ranges(low, high) | opened, min_size=1, max_size=3).map(",".join)


def names(of: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(of), min_size=1, max_size=3).map(",".join)


MONTHS = st.just("*") | number_lists(1, 12) | names(MONTH_NAMES)
WEEKDAYS = st.just("*") | number_lists(1, 7) | names(DAY_NAMES)
DAYS = st.just("*") | st.tuples(st.integers(1, 28).map(str), number_lists(1, 31)).map(",".join)
DATES = st.tuples(DAYS, MONTHS, st.just("*")) | st.tuples(st.just("*"), MONTHS, WEEKDAYS)
EVERY_DAY = st.just(("*", "*", "*"))
NIGHT_HOURS = st.lists(st.integers(0, 4).map(str) | ranges(0, 4), min_size=1, max_size=3).map(",".join)


def noon(zone: ZoneInfo, year: int, day: int) -> datetime:
    """Noon of a day of the year: no clock changes then."""
    return datetime(year, 1, 1, 12, tzinfo=zone) + timedelta(days=day)


@cache
def eves_of_changes(zone: ZoneInfo, year: int) -> list[datetime]:
    """The noons after which the zone's clocks change; New Year's when they do not that year."""
    noons = [noon(zone, year, day) for day in range(364)]
    eves = [eve for eve, after in pairwise(noons) if eve.utcoffset() != after.utcoffset()]
    return eves or noons[:1]


def around_changes() -> st.SearchStrategy[datetime]:
    places = st.tuples(st.sampled_from(ZONES).map(ZoneInfo), st.integers(1975, 2036))
    return places.flatmap(lambda place: st.sampled_from(eves_of_changes(*place)))


def assert_same(expression: str, other: str, start: datetime, count: int = 40) -> None:
    """Fails when the next due times of the expression are not those that cronsim gives for `other`."""
    zone = start.tzinfo
    assert zone is not None
    own = Cron.parse(expression).between(start, start + timedelta(days=366 * 30), zone)
    theirs = (due.astimezone(UTC) for due in CronSim(other, start))
    assert list(islice(own, count)) == list(islice(theirs, count))


@given(number_lists(0, 59), NIGHT_HOURS | st.just("*"), EVERY_DAY | DATES, around_changes())
def test_five_fields_are_due_as_cronsim_says_while_clocks_change(
    minutes: str, hours: str, dates: tuple[str, str, str], start: datetime
) -> None:
    five = " ".join([minutes, hours, *dates])
    assert_same(f"0 {five}", five, start)


@given(
    st.tuples(number_lists(0, 59), number_lists(0, 59), number_lists(0, 23)).map(" ".join)
    | st.sampled_from(["* * *", "*/7 * *", "0 */5 *", "0 0 */2", "10-20 */9 */5"]),
    DATES,
    st.datetimes(datetime(1975, 1, 1), datetime(2036, 1, 1), timezones=st.just(UTC)),
)
def test_six_fields_are_due_as_cronsim_says_in_utc(times: str, dates: tuple[str, str, str], start: datetime) -> None:
    expression = " ".join([times, *dates])
    assert_same(expression, expression, start.replace(microsecond=0))
