"""Lines of a Camel process are read, whatever they are."""

from datetime import UTC, datetime

from penstock.flow.camel.crash import Crash
from penstock.flow.camel.log_line import LogLine
from penstock.flow.listener import Level


def test_a_line_of_the_log_is_read_with_its_exchange() -> None:
    line = LogLine.parse(
        b'{"at":"2026-11-21T02:00:00.5Z","level":"WARN","logger":"orders","message":"late","exchange":"X-1"}'
    )
    assert (line.at, line.severity, line.logger, line.message, line.exchange) == (
        datetime(2026, 11, 21, 2, 0, 0, 500000, UTC),
        Level.WARN,
        "orders",
        "late",
        "X-1",
    )


def test_what_java_prints_is_a_message() -> None:
    line = LogLine.parse(b"{not json \xff")
    assert line.at is None
    assert line.message.startswith("{not json")


def test_a_severity_that_is_not_known_is_told_as_the_nearest() -> None:
    assert LogLine(level="FATAL").severity is Level.ERROR
    assert LogLine(level="AUDIT").severity is Level.INFO


def test_a_crash_is_told_by_its_last_cause() -> None:
    crash = Crash.begun_by('Exception in thread "main" org.x.StartFailed: Failed to create route: a')
    assert crash is not None
    lines = ["\tat org.x.A.b(A.java:1)", "Caused by: org.x.NoSuchEndpoint: No endpoint for foo", "\t... 3 more"]
    assert all(crash.takes(line) for line in lines)
    assert not crash.takes("something else")
    assert crash.reason == "Failed to create route: a: No endpoint for foo"
    assert crash.exception == "org.x.StartFailed"
    assert "\tat org.x.A.b(A.java:1)" in crash.trace
