"""Durations: the clock form, ISO 8601, and what is refused."""

from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.kernel.duration import Duration

LONGEST = timedelta(microseconds=(2**63 - 1) // 10)
NO_DURATION = "must be a duration like '1.02:30:00' or 'PT1H30M' (no years or months)"


def parsed_or_refused(text: str) -> Duration | str:
    try:
        return Duration.parse(text)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("00:00:00", timedelta()),
        ("1:02:03", timedelta(hours=1, minutes=2, seconds=3)),
        ("01:02:03", timedelta(hours=1, minutes=2, seconds=3)),
        ("1.02:30:00", timedelta(days=1, hours=2, minutes=30)),
        ("-1.02:30:00", -timedelta(days=1, hours=2, minutes=30)),
        ("00:00:00.5", timedelta(milliseconds=500)),
        ("00:00:00.0000019", timedelta(microseconds=1)),
        ("-00:00:00.1234567", -timedelta(microseconds=123_456)),
        ("23:59:59.9999999", timedelta(days=1, microseconds=-1)),
        ("PT1H30M", timedelta(hours=1, minutes=30)),
        ("P1DT2H", timedelta(days=1, hours=2)),
        ("P2W", timedelta(weeks=2)),
        ("P0D", timedelta()),
        ("PT90M", timedelta(minutes=90)),
        ("PT0.5H", timedelta(minutes=30)),
        ("PT1H0,25M", timedelta(hours=1, seconds=15)),
        ("P1.5D", timedelta(hours=36)),
        ("PT1.000001S", timedelta(seconds=1, microseconds=1)),
        ("-PT5S", timedelta(seconds=-5)),
        ("+PT5S", timedelta(seconds=5)),
        ("10675199.02:48:05.4775807", LONGEST),
        ("-10675199.02:48:05.4775808", -LONGEST),
    ],
)
def test_both_forms_are_read(text: str, delta: timedelta) -> None:
    assert Duration.parse(text) == delta


@pytest.mark.parametrize(
    ("delta", "text"),
    [
        (timedelta(), "00:00:00"),
        (timedelta(hours=23, minutes=59, seconds=59), "23:59:59"),
        (timedelta(days=1), "1.00:00:00"),
        (timedelta(seconds=-1), "-00:00:01"),
        (-timedelta(days=2, hours=3, microseconds=5), "-2.03:00:00.0000050"),
        (timedelta(milliseconds=250), "00:00:00.2500000"),
    ],
)
def test_the_clock_form_is_answered(delta: timedelta, text: str) -> None:
    assert str(Duration.of(delta)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "24:00:00",
        "1:60:00",
        "01:00:60",
        "01:00",
        "1 day",
        "+01:00:00",
        "00:00:00.12345678",
        "P",
        "PT",
        "P1DT",
        "P1Y",
        "P1M",
        "P1H",
        "PT1.5H30M",
        "PT1.H",
        "pt1h",
        "P1D ",
        "\u0661:00:00",
        "10675199.02:48:05.477581",
        "P99999999W99999999DT9999999999H",
        "P999999999999W",
        "\ud800",
    ],
)
def test_anything_else_is_refused_with_what_is_allowed(text: str) -> None:
    assert parsed_or_refused(text) == NO_DURATION


@given(st.timedeltas(-LONGEST, LONGEST))
@example(LONGEST)
@example(-LONGEST)
def test_a_duration_reads_back_as_it_was_written(delta: timedelta) -> None:
    assert Duration.parse(str(Duration.of(delta))) == delta


@given(st.integers(0, 10**6), st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9))
def test_iso_numbers_may_be_larger_than_their_unit(days: int, hours: int, minutes: int, seconds: int) -> None:
    delta = timedelta(days=days, minutes=minutes, seconds=seconds) + hours % 10**6 * timedelta(hours=1)
    assert Duration.parse(f"P{days}DT{hours % 10**6}H{minutes}M{seconds}S") == delta


@given(st.text(max_size=30) | st.from_regex(r"-?P?[0-9]{0,13}[.:WDTHMS,0-9]{0,20}", fullmatch=True))
def test_no_text_makes_parsing_fail_in_another_way(text: str) -> None:
    result = parsed_or_refused(text)
    assert result == NO_DURATION if isinstance(result, str) else Duration.parse(str(result)) == result
