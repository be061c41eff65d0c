"""The component `cron`: schedules in Camel's short form."""

import pytest

from penstock.flow.components.cron import Schedule


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("0/5 * * * *", "0 0/5 * * * *"),
        ("*/5+*+*+*+*+*", "*/5 * * * * *"),
        ("0 0 12 ? * MON", "0 0 12 ? * MON"),
    ],
)
def test_five_fields_begin_with_minutes_and_six_with_seconds(written: str, read: str) -> None:
    assert str(Schedule.parse(written)) == read


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("* * * *", "5 fields from minutes or 6"),
        ("0 0 0 1 1 ? 2030", "only the engine Camel"),
        ("61 * * * *", "minutes"),
    ],
)
def test_other_schedules_are_refused(written: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Schedule.parse(written)
