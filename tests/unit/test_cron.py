"""Cron expressions: what is read, what is refused, and when they are due in UTC."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.cron import Cron, CronError
from tests.unit.cron_expressions import Expression, expressions, only

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def first_due(expression: str, after: str, count: int = 3) -> list[str]:
    """The next `count` due times in UTC, as text."""
    end = datetime(2200, 1, 1, tzinfo=UTC)
    due = islice(Cron.parse(expression).between(utc(after), end, UTC), count)
    return [moment.strftime("%Y-%m-%d %H:%M:%S") for moment in due]


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        ("* * * * * ?", ["2026-01-01 00:00:01", "2026-01-01 00:00:02", "2026-01-01 00:00:03"]),
        ("*/20 * * * * ?", ["2026-01-01 00:00:20", "2026-01-01 00:00:40", "2026-01-01 00:01:00"]),
        ("0 3/25 * * * ?", ["2026-01-01 00:03:00", "2026-01-01 00:28:00", "2026-01-01 00:53:00"]),
        ("0 1-30/14 5 * * ?", ["2026-01-01 05:01:00", "2026-01-01 05:15:00", "2026-01-01 05:29:00"]),
        ("0 0 6,18 * * ?", ["2026-01-01 06:00:00", "2026-01-01 18:00:00", "2026-01-02 06:00:00"]),
        ("0 0 0 ? * MON-FRI", ["2026-01-02 00:00:00", "2026-01-05 00:00:00", "2026-01-06 00:00:00"]),
        ("0 0 0 31 * ?", ["2026-01-31 00:00:00", "2026-03-31 00:00:00", "2026-05-31 00:00:00"]),
        ("0 0 0 1 jan,Jul ?", ["2026-07-01 00:00:00", "2027-01-01 00:00:00", "2027-07-01 00:00:00"]),
        ("0 0 12 ? * ?", ["2026-01-01 12:00:00", "2026-01-02 12:00:00", "2026-01-03 12:00:00"]),
        ("59 59 23 31 12 ?", ["2026-12-31 23:59:59", "2027-12-31 23:59:59", "2028-12-31 23:59:59"]),
    ],
)
def test_an_expression_is_due_at_the_times_it_names(expression: str, due: list[str]) -> None:
    assert first_due(expression, after="2026-01-01 00:00:00") == due


@pytest.mark.parametrize(("day", "date"), [("1", "05"), ("MON", "05"), ("5", "09"), ("7", "11"), ("sun", "11")])
def test_days_of_the_week_are_numbered_from_monday(day: str, date: str) -> None:
    assert first_due(f"0 0 0 ? * {day}", after="2026-01-04 12:00:00", count=1) == [f"2026-01-{date} 00:00:00"]


@pytest.mark.parametrize(
    ("wrapped", "listed"),
    [
        ("0 0 0 ? * FRI-MON", "0 0 0 ? * FRI,SAT,SUN,MON"),
        ("0 0 22-2 * * ?", "0 0 22,23,0,1,2 * * ?"),
        ("0 0 21-3/2 * * ?", "0 0 21,23,1,3 * * ?"),
        ("0 0 0 30-2 * ?", "0 0 0 30,31,1,2 * ?"),
        ("0 0 0 1 NOV-FEB ?", "0 0 0 1 11,12,1,2 ?"),
    ],
)
def test_a_range_whose_end_is_before_its_begin_wraps_around(wrapped: str, listed: str) -> None:
    assert first_due(wrapped, "2026-01-15 00:00:00", 20) == first_due(listed, "2026-01-15 00:00:00", 20)


def test_29_february_is_due_in_leap_years_and_not_in_1900_or_2100() -> None:
    assert first_due("0 0 0 29 FEB ?", "2026-01-01 00:00:00") == [
        "2028-02-29 00:00:00",
        "2032-02-29 00:00:00",
        "2036-02-29 00:00:00",
    ]
    assert first_due("0 0 0 29 2 ?", "2096-02-29 00:00:00", 1) == ["2104-02-29 00:00:00"]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("61 * * * * ?", "seconds: '61' is out of range, allowed are 0-59"),
        ("0 60 * * * ?", "minutes: '60' is out of range, allowed are 0-59"),
        ("0 0 24 * * ?", "hours: '24' is out of range, allowed are 0-23"),
        ("0 0 0 0 * ?", "day-of-month: '0' is out of range, allowed are 1-31"),
        ("0 0 0 1 13 ?", "month: '13' is out of range, allowed are 1-12 or JAN-DEC"),
        ("0 0 0 ? * 0", "day-of-week: '0' is out of range, allowed are 1-7 or MON-SUN"),
        ("0 0 0 ? * Someday", "day-of-week: 'Someday' is not a value, allowed are 1-7 or MON-SUN"),
        ("0 0 0 MON * ?", "day-of-month: 'MON' is not a value, allowed are 1-31"),
        ("0 0 0 L * ?", "day-of-month: 'L' is not a value, allowed are 1-31"),
        ("0 0 0 ? * MON#1", "day-of-week: 'MON#1' cannot be read, allowed are 1-7 or MON-SUN with * ? - , /"),
        ("0," * 500 + "0 * * * * ?", "must have at most 1000 characters"),
        ("1,,2 * * * * ?", "seconds: '1,,2' cannot be read, allowed are 0-59 with * - , /"),
        ("? * * * * ?", "seconds: '?' cannot be read, allowed are 0-59 with * - , /"),
        ("0 -5 * * * ?", "minutes: '-5' cannot be read, allowed are 0-59 with * - , /"),
        ("0 0 0 ?,1 * *", "day-of-month: '?,1' cannot be read, allowed are 1-31 with * ? - , /"),
        ("*/0 * * * * ?", "seconds: '/0' is not an increment, allowed are 1-59"),
        ("0 0 */24 * * ?", "hours: '/24' is not an increment, allowed are 1-23"),
        ("0 0 0 ? * */8", "day-of-week: '/8' is not an increment, allowed are 1-7"),
        ("0 0 0 31 FEB ?", "day-of-month: '31' never comes in month 'FEB', allowed there are 1-29"),
        ("0 0 0 30-31 2 ?", "day-of-month: '30-31' never comes in month '2', allowed there are 1-29"),
        ("0 0 0 31 4,6,9,11 ?", "day-of-month: '31' never comes in month '4,6,9,11', allowed there are 1-30"),
        (
            "0 0 0 1 * MON",
            "day-of-week: 'MON' cannot be combined with day-of-month '1', allowed beside it is ?",
        ),
        (
            "* * * * ?",
            "must have 6 fields (seconds minutes hours day-of-month month day-of-week), not 5",
        ),
        ("", "must have 6 fields (seconds minutes hours day-of-month month day-of-week), not 0"),
    ],
)
def test_an_error_names_the_field_and_says_what_is_allowed(expression: str, message: str) -> None:
    with pytest.raises(CronError) as raised:
        Cron.parse(expression)
    assert str(raised.value) == message


def test_an_absurdly_long_number_is_out_of_range_and_not_repeated_in_full() -> None:
    with pytest.raises(CronError, match=r"^seconds: '9{24}\.\.\.' is out of range, allowed are 0-59$"):
        Cron.parse("9" * 900 + " * * * * ?")


@pytest.mark.parametrize("text", ["0 0 0 ? * \u017fUN", "\u0663 * * * * ?", "0 0 0 1 \u0131 ?"])
def test_letters_and_digits_outside_ascii_are_refused(text: str) -> None:
    with pytest.raises(CronError):
        Cron.parse(text)


@given(st.text(max_size=40) | st.text("0123456789*/-,? JANFEBMONSUN", max_size=40))
def test_any_other_text_is_refused_with_a_cron_error_and_nothing_else(text: str) -> None:
    try:
        cron = Cron.parse(text)
    except CronError:
        return
    assert cron.next_after(utc("2026-01-01"), UTC) is not None


@pytest.mark.parametrize("both", ["0 0 0 * * *", "0 0 0 ? * ?", "0 0 0 * * ?", "0 0 0 ? * *", "0 0 0 1/1 * MON-SUN"])
def test_day_fields_that_leave_no_day_out_mean_every_day(both: str) -> None:
    assert first_due(both, "2026-02-27 00:00:00", 2) == ["2026-02-28 00:00:00", "2026-03-01 00:00:00"]


def test_an_expression_gives_its_text_back_with_single_blanks() -> None:
    assert str(Cron.parse(" 0  0\t12 ? * mon-Fri\n")) == "0 0 12 ? * mon-Fri"


def test_expressions_with_the_same_text_are_equal_and_hash_alike() -> None:
    assert Cron.parse("0 0 12 * * ?") == Cron.parse("0 0  12 * * ?")
    assert len({Cron.parse("0 0 12 * * ?"), Cron.parse("0 0 12 * * ?"), Cron.parse("0 0 13 * * ?")}) == 2


def test_a_cron_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Cron.parse("* * * * * ?").text = "0 * * * * ?"  # type: ignore[misc]


def test_the_next_due_time_is_strictly_later_and_parts_of_a_second_do_not_count_as_due() -> None:
    cron = Cron.parse("0 0 12 * * ?")
    noon = utc("2026-01-01 12:00:00")
    assert cron.next_after(noon - timedelta(microseconds=1), UTC) == noon
    assert cron.next_after(noon, UTC) == noon + DAY
    assert cron.next_after(noon + timedelta(microseconds=1), UTC) == noon + DAY


def test_between_leaves_out_its_begin_and_includes_its_end() -> None:
    cron, noon = Cron.parse("0 * * * * ?"), utc("2026-01-01 12:00:00")
    minute = timedelta(minutes=1)
    assert list(cron.between(noon, noon + 2 * minute, UTC)) == [noon + minute, noon + 2 * minute]
    assert list(cron.between(noon, noon, UTC)) == []
    assert list(cron.between(noon, noon - DAY, UTC)) == []
    assert cron.count_between(noon, noon - DAY, UTC) == 0


def test_a_moment_without_zone_is_refused() -> None:
    with pytest.raises(TypeError):
        Cron.parse("* * * * * ?").next_after(datetime(2026, 1, 1), UTC)


def test_nothing_is_due_at_the_end_of_the_calendar() -> None:
    assert Cron.parse("0 0 0 1 1 ?").next_after(datetime.max.replace(tzinfo=UTC), UTC) is None
    assert Cron.parse("0 0 0 29 2 ?").next_after(utc("9996-03-01"), UTC) is None


def test_a_count_over_a_century_of_seconds_is_exact() -> None:
    begin, end = utc("2000-01-01"), utc("2100-01-01")
    assert Cron.parse("* * * * * ?").count_between(begin, end, UTC) == (end - begin) // SECOND
    assert Cron.parse("0 0 0 29 2 ?").count_between(begin, end, UTC) == 25


@given(expressions(), MOMENTS)
def test_due_seconds_are_those_that_match_every_field(expression: Expression, start: datetime) -> None:
    cron = Cron.parse(expression.text)
    start = cron.next_after(start, UTC) or start  # else the window would hold a due time too seldom
    window = [start.replace(microsecond=0) + SECOND * step for step in range(-300, 900)]
    matching = [moment for moment in window if expression.matches(moment)]
    assert list(cron.between(window[0] - SECOND, window[-1], UTC)) == matching


@given(expressions(seconds=only("0", 0)), MOMENTS)
def test_due_minutes_of_some_days_are_those_that_match_every_field(expression: Expression, start: datetime) -> None:
    cron = Cron.parse(expression.text)
    start = (cron.next_after(start, UTC) or start).replace(second=0, microsecond=0) - 2 * DAY
    window = [start + timedelta(minutes=step) for step in range(1, 4 * 24 * 60)]
    matching = [moment for moment in window if expression.matches(moment)]
    assert list(cron.between(start, window[-1], UTC)) == matching


@given(expressions(), MOMENTS)
def test_no_day_that_matches_is_skipped_in_ten_years(expression: Expression, start: datetime) -> None:
    at_noon = Cron.parse(f"0 0 12 {expression.days.text} {expression.months.text} {expression.weekdays.text}")
    noons = [datetime(start.year, 1, 1, 12, tzinfo=UTC) + DAY * step for step in range(3652)]
    matching = [
        noon
        for noon in noons
        if noon.day in expression.days.values
        and noon.month in expression.months.values
        and noon.isoweekday() in expression.weekdays.values
    ]
    assert list(at_noon.between(noons[0] - DAY, noons[-1], UTC)) == matching


@given(expressions(), MOMENTS, st.timedeltas(timedelta(0), timedelta(hours=12)))
def test_a_count_is_the_number_of_due_times(expression: Expression, start: datetime, length: timedelta) -> None:
    cron = Cron.parse(expression.text)
    start = (cron.next_after(start, UTC) or start) - length / 2
    due = list(islice(cron.between(start, start + length, UTC), 5000))
    end = due[-1] if len(due) == 5000 else start + length
    assert cron.count_between(start, end, UTC) == len(due)
