"""The native flow engine: real processes, the machine's clock, and a clock that is set where time matters."""

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest

from penstock.flow.component import Consumer
from penstock.flow.definition import FlowDefinition
from penstock.flow.intake import Intake
from penstock.flow.listener import Level, Tick
from penstock.flow.orphans import marked
from penstock.flow.parser import parse_flow
from penstock.flow.problem import InvalidFlow
from penstock.flow.route import Route
from penstock.flow.running import FlowState
from penstock.flow.scheduled_command import scheduled_command
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import NotFound
from tests.conformance.running_engine import EVERY_SECOND, eventually, running_engine
from tests.unit.flow_listener import RememberingListener
from tests.unit.stepping_clock import SteppingClock

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
NO_GRACE = timedelta()


def logging(name: str, cron: str, version: str = "1") -> FlowDefinition:
    """A flow that logs at each due time, without a process."""
    source = f"- from: {{uri: quartz, parameters: {{triggerName: a, cron: '{cron}'}}, steps: [log: '{version}']}}\n"
    return parse_flow(name, version, source)


def timer(options: str, *steps: str) -> str:
    return f"- from:\n    uri: timer:t?{options}\n    steps:\n" + "".join(f"    - {step}\n" for step in steps)


class Hesitating(Consumer, frozen=True):
    """A consumer whose start waits, and then may fail."""

    element = "hesitating"
    path = "name"
    go: asyncio.Event
    error: Exception | None

    async def start(self, intake: Intake) -> None:
        await self.go.wait()
        if self.error is not None:
            raise self.error


def hesitating(flow: FlowDefinition, go: asyncio.Event, error: Exception | None = None) -> FlowDefinition:
    """The flow with one more route, whose start waits."""
    route = Route("hesitating", Hesitating(go=go, error=error), ())
    return msgspec.structs.replace(flow, routes=(*flow.routes, route))


# Runs of commands


async def test_a_schedule_runs_its_command_with_exactly_its_arguments_and_tells_of_it() -> None:
    async with running_engine() as running:
        await running.schedule("greet", "printf", "%s|", "${body}", "a b", "{{.Names}}", "{{var:GREETING}}")
        await running.settled("greet")
        started, finished = running.listener.started[0], running.listener.finished[0]
    assert finished.output == "${body}|a b|{{.Names}}|hello world|"
    assert (finished.exit_code, finished.error, finished.output_bytes) == (0, None, len(finished.output))
    assert finished.command == ("printf", "%s|", "${body}", "a b", "{{.Names}}", "{{var:GREETING}}")
    assert (started.id, started.due, started.started) == (finished.id, finished.due, finished.started)
    assert started.finished is None
    assert finished.finished is not None
    assert finished.due is not None
    assert finished.due.microsecond == 0
    assert finished.due <= finished.started <= finished.finished


async def test_a_tick_is_told_before_its_run_starts() -> None:
    class Ordering(RememberingListener):
        async def ticks(self, ticks: Sequence[Tick]) -> None:
            await asyncio.sleep(0.01)
            assert not self.started
            self.ticked += ticks

    async with running_engine(listener=Ordering()) as running:
        await running.schedule("ordered", "true")
        await eventually(lambda: bool(running.listener.started))
        assert running.listener.ticked[0].due == running.listener.started[0].due


@pytest.mark.parametrize(
    ("command", "error", "exit_code"),
    [
        (("no-such-command",), "command 'no-such-command' does not exist on this agent", None),
        (("sh", "-c", "exit 3"), "command 'sh' ended with exit value 3", 3),
        (("echo", "{{var:NOBODY}}"), "variable 'NOBODY' does not exist", None),
        (
            ("echo", "{{var:PASSWORD}}"),
            "variable 'PASSWORD' is a secret and cannot be used in a command, "
            "where other users of the machine can read it",
            None,
        ),
    ],
)
async def test_a_run_that_fails_says_why_and_ends_its_exchange(
    command: tuple[str, ...], error: str, exit_code: int | None
) -> None:
    async with running_engine() as running:
        await running.run_once(*command)
        status = running.engine.status("once")
    assert [run.error for run in running.listener.finished] == [error]
    assert running.listener.finished[0].exit_code == exit_code
    assert status.statistics.exchanges_failed == 1
    assert status.error == error
    assert running.listener.messages == [f"Exchange failed: {error}"]
    assert running.listener.lines[0].level is Level.ERROR


async def test_a_failed_exchange_does_not_stop_the_flow_and_the_next_good_one_clears_the_error() -> None:
    async with running_engine() as running:
        marker = f"/tmp/{running.marker}"
        await running.start(
            "wobbly",
            timer("delay=0&period=1&repeatCount=3", f"to: 'exec:sh?exitValues=0&args=-c \"! rm {marker}\"'", "log: on"),
        )
        await running.settled("wobbly", 3)
        assert running.engine.status("wobbly").error is None
    assert running.listener.messages == ["on"] * 3


async def test_a_commands_output_and_exit_value_are_in_the_message() -> None:
    async with running_engine() as running:
        source = timer(
            "delay=0&repeatCount=1",
            "to: {uri: exec:sh, parameters: {args: [-c, 'printf out; printf err >&2; exit 3']}}",
            "log: '${body} ${header.CamelExecExitValue} ${header.CamelExecStderr}'",
        )
        await running.start("message", source)
        await running.settled("message")
    assert running.listener.messages == ["out 3 err"]


async def test_a_body_that_was_cut_is_told() -> None:
    async with running_engine() as running:
        await running.run_once("sh", "-c", "yes | head -c 100000")
    assert running.listener.messages[0].startswith("The body is the end of the command's output: 34464 bytes")
    assert running.listener.lines[0].level is Level.WARN


async def test_a_message_cannot_change_the_command() -> None:
    async with running_engine() as running:
        source = timer(
            "delay=0&repeatCount=1", "setHeader: {name: CamelExecCommandArgs, constant: -x}", "to: exec:true"
        )
        await running.start("override", source)
        await running.settled("override")
    assert running.listener.finished[0].error is not None
    assert "CamelExecCommandArgs" in running.listener.finished[0].error


async def test_a_command_over_its_time_limit_fails() -> None:
    async with running_engine() as running:
        await running.run_once("sleep", "600", parameters="          timeout: 200\n")
    assert running.listener.finished[0].error == "command 'sleep' was ended after its time limit of 0:00:00.200000"
    assert marked("PENSTOCK_AGENT_RUN", running.marker) == []


async def test_secrets_are_masked_in_logs_and_output() -> None:
    async with running_engine() as running:
        source = timer(
            "delay=0&repeatCount=1",
            "setBody: {constant: 'login {{var:PASSWORD}}'}",
            "log: '${body}'",
            "to: log:out",
            "to: {uri: exec:printf, parameters: {args: ['s3cret%s', '-value']}}",
        )
        await running.start("secret", source)
        await running.settled("secret")
    assert running.listener.messages == ["login ******", "Exchange[BodyType: String, Body: login ******]"]
    assert running.listener.finished[0].output == "******"


async def test_runs_of_one_schedule_may_overlap() -> None:
    async with running_engine() as running:
        await running.schedule("long", "sleep", "600")
        await eventually(lambda: len(running.listener.started) >= 2)
        assert running.engine.status("long").statistics.exchanges_inflight >= 2
        assert running.listener.finished == []


# Flows: start, replace, stop


async def test_a_flow_that_does_not_run_is_not_found() -> None:
    async with running_engine() as running:
        with pytest.raises(NotFound, match="'nobody'"):
            running.engine.status("nobody")
        with pytest.raises(NotFound, match="'nobody'"):
            await running.engine.stop("nobody", NO_GRACE)


async def test_a_flows_status_tells_version_state_and_counts() -> None:
    async with running_engine() as running:
        await running.start("counted", timer("delay=0&period=1&repeatCount=4", "log: hello"), version="7")
        await running.settled("counted", 4)
        status = running.engine.status("counted")
        assert running.engine.names() == ["counted"]
    assert (status.name, status.version, status.state) == ("counted", "7", FlowState.RUNNING)
    assert (status.statistics.exchanges_total, status.statistics.exchanges_inflight) == (4, 0)


async def test_exchanges_in_flight_finish_within_the_grace() -> None:
    async with running_engine() as running:
        await running.schedule("brief", "sleep", "0.5")
        await eventually(lambda: bool(running.listener.started))
        await running.engine.stop("brief", timedelta(seconds=30))
        assert running.engine.names() == []
    assert [run.error for run in running.listener.finished] == [None] * len(running.listener.started)


async def test_exchanges_that_do_not_finish_within_the_grace_are_ended_and_told() -> None:
    async with running_engine() as running:
        await running.schedule("long", "sleep", "600")
        await eventually(lambda: bool(running.listener.started))
        await running.engine.stop("long", NO_GRACE)
        assert marked("PENSTOCK_AGENT_RUN", running.marker) == []
    assert {run.error for run in running.listener.finished} == {"command 'sleep' was ended together with its flow"}
    assert len(running.listener.finished) == len(running.listener.started)


async def test_everything_ends_with_the_engine() -> None:
    async with running_engine() as running:
        for number in range(5):
            await running.schedule(f"long-{number}", "sh", "-c", "setsid sleep 600 & sleep 600")
        await eventually(lambda: len(marked("PENSTOCK_AGENT_RUN", running.marker)) >= 10)
    assert marked("PENSTOCK_AGENT_RUN", running.marker) == []
    assert len(running.listener.finished) == len(running.listener.started)


async def test_everything_ends_with_an_engine_that_is_cancelled() -> None:
    markers: list[str] = []

    async def body() -> None:
        async with running_engine() as running:
            await running.schedule("long", "sleep", "600")
            await eventually(lambda: bool(marked("PENSTOCK_AGENT_RUN", running.marker)))
            markers.append(running.marker)
            await asyncio.sleep(600)

    task = asyncio.create_task(body())
    await eventually(lambda: bool(markers))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked("PENSTOCK_AGENT_RUN", *markers) == []


async def test_a_listener_that_raises_ends_the_engine() -> None:
    class Broken(RememberingListener):
        async def ticks(self, ticks: Sequence[Tick]) -> None:
            raise OSError("the disk is full")

    async def body() -> None:
        async with running_engine(listener=Broken()) as running:
            await running.engine.start(logging("any", EVERY_SECOND))
            await asyncio.sleep(600)

    with pytest.raises(BaseExceptionGroup) as ended:
        await body()
    (error,) = ended.value.exceptions
    assert isinstance(error, OSError)
    assert str(error) == "the disk is full"


async def test_a_new_version_takes_over_without_missing_or_doubling_a_due_time() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        for version in range(1, 30):
            await running.engine.start(logging("tick", EVERY_SECOND, str(version)))
            await clock.advance(SECOND * 0.3 * version)
        listener = running.listener
        await clock.advance(timedelta())
        seconds = int((clock.now() - NOON).total_seconds())
        assert [tick.due for tick in listener.ticked] == [NOON + SECOND * n for n in range(1, seconds + 1)]
        assert [line.message for line in listener.lines] == [tick.version for tick in listener.ticked]
        assert running.engine.status("tick").statistics.reloaded == 28


async def test_due_times_that_wait_for_the_listener_stay_the_old_versions() -> None:
    class Slow(RememberingListener):
        def __init__(self) -> None:
            super().__init__()
            self.free = asyncio.Event()

        async def ticks(self, ticks: Sequence[Tick]) -> None:
            await self.free.wait()
            self.ticked += ticks

    clock, listener = SteppingClock(NOON), Slow()
    async with running_engine(clock, listener=listener) as running:
        await running.engine.start(logging("tick", EVERY_SECOND, "old"))
        await clock.advance(SECOND * 3.5)
        await running.engine.start(logging("tick", EVERY_SECOND, "new"))
        await clock.advance(SECOND)
        listener.free.set()
        await clock.advance(SECOND)
        told = [(int((tick.due - NOON).total_seconds()), tick.version) for tick in listener.ticked]
    assert sorted(told) == [(1, "old"), (2, "old"), (3, "old"), (4, "new"), (5, "new")]


async def test_what_was_due_before_a_stop_still_fires() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        await running.engine.start(logging("tick", EVERY_SECOND))
        await clock.step(SECOND * 2.5)
        await running.engine.stop("tick", timedelta(seconds=30))
        await clock.advance(SECOND * 5)
    assert [tick.due for tick in running.listener.ticked] == [NOON + SECOND, NOON + SECOND * 2]
    assert len(running.listener.lines) == 2


@pytest.mark.parametrize(("error", "takes_over"), [(ConnectionError("away"), False), (None, True)])
async def test_the_old_version_ticks_until_the_new_one_has_started(error: Exception | None, takes_over: bool) -> None:
    clock, go = SteppingClock(NOON), asyncio.Event()
    async with running_engine(clock) as running:
        await running.engine.start(logging("tick", EVERY_SECOND, "old"))
        await clock.advance(SECOND * 2)
        new = hesitating(logging("tick", EVERY_SECOND, "new"), go, error)
        start = asyncio.create_task(running.engine.start(new))
        await clock.advance(SECOND * 2)
        go.set()
        (outcome,) = await asyncio.gather(start, return_exceptions=True)
        await clock.advance(SECOND * 2)
    assert outcome == (NOON + SECOND * 4 if takes_over else error)
    assert [tick.due for tick in running.listener.ticked] == [NOON + SECOND * n for n in range(1, 7)]
    last = ["new"] * 2 if takes_over else ["old"] * 2
    assert [tick.version for tick in running.listener.ticked] == ["old"] * 4 + last


async def test_a_first_version_that_cannot_start_is_not_there() -> None:
    go = asyncio.Event()
    go.set()
    async with running_engine() as running:
        with pytest.raises(ConnectionError):
            await running.engine.start(hesitating(logging("bad", EVERY_SECOND), go, ConnectionError("away")))
        assert running.engine.names() == []


async def test_starts_of_one_flow_at_the_same_time_leave_one_version_running() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        versions = [logging("tick", EVERY_SECOND, str(number)) for number in range(10)]
        await asyncio.gather(*(running.engine.start(version) for version in versions))
        await clock.advance(SECOND * 3)
        current = running.engine.status("tick").version
    assert [tick.version for tick in running.listener.ticked] == [current] * 3


async def test_an_option_that_needs_a_variable_gets_it_at_the_start() -> None:
    async with running_engine() as running:
        await running.start("period", timer("delay=0&period={{var:PERIOD}}&repeatCount=3", "log: hello"))
        await running.settled("period", 3)
        with pytest.raises(InvalidFlow, match="period"):
            await running.start("wrong", timer("period={{var:GREETING}}", "log: hello"))
        with pytest.raises(NotFound, match="NOBODY"):
            await running.start("missing", timer("period={{var:NOBODY}}", "log: hello"))


# Time


async def test_schedules_follow_the_zone_when_its_clocks_change() -> None:
    clock = SteppingClock(datetime(2026, 3, 28, 20, tzinfo=UTC))
    async with running_engine(clock, ZoneInfo("Europe/Berlin")) as running:
        await running.engine.start(logging("nightly", "0 30 2 * * ?"))
        await clock.advance(timedelta(days=2))
    due = [f"{tick.due:%d %H:%M}" for tick in running.listener.ticked]
    assert due == ["29 01:00", "30 00:30"]  # 03:00, right after the gap; then 02:30, in UTC


async def test_a_tick_that_a_suspended_machine_slept_through_is_missed_and_not_run() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        await running.engine.start(logging("hourly", "0 0 * * * ?"))
        await running.engine.start(logging("often", "0/10 * * * * ?"))
        await clock.step(timedelta(hours=8, minutes=10))
        ticks = running.listener.ticked
    (hourly,) = [tick for tick in ticks if tick.flow == "hourly"]
    assert (hourly.missed, hourly.count) == (True, 8)
    assert (hourly.due, hourly.last_due) == (NOON + timedelta(hours=1), NOON + timedelta(hours=8))
    assert hourly.reason
    often = [tick for tick in ticks if tick.flow == "often"]
    assert [tick.missed for tick in often] == [True] + [False] * 7
    assert sum(tick.count for tick in often) == (8 * 60 + 10) * 6
    assert len(running.listener.lines) == 7


async def test_a_timer_waits_for_its_exchange_before_it_fires_again() -> None:
    async with running_engine() as running:
        await running.start("slow", timer("delay=0&period=1&repeatCount=3", "to: exec:sleep?args=0.1"))
        await running.settled("slow", 3)
    started = [run.started for run in running.listener.started]
    finished = [run.finished for run in running.listener.finished]
    assert len(started) == 3
    assert all(begin >= (end or NOON) for begin, end in zip(started[1:], finished, strict=False))


@pytest.mark.parametrize(
    ("options", "fired"),
    [
        ("", [1, 2, 3, 4, 5]),
        ("delay=0&period=2s", [0, 2, 4]),
        ("delay=2500", [2.5, 3.5, 4.5]),
        ("repeatCount=2", [1, 2]),
        ("delay=-1&repeatCount=4&period=100s", [0, 0, 0, 0]),
        ("delay=1s&period=0", [1]),
        ("fixedRate=true&period=2s&delay=500", [0.5, 2.5, 4.5]),
    ],
)
async def test_a_timer_fires_as_its_options_say(options: str, fired: list[float]) -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        await running.engine.start(
            parse_flow(
                "timer", "1", timer(f"includeMetadata=true&{options}", "log: '${exchangeProperty.CamelTimerCounter}'")
            )
        )
        await clock.advance(SECOND * 5)
    assert [(line.at - NOON).total_seconds() for line in running.listener.lines] == fired
    assert running.listener.messages == [str(number + 1) for number in range(len(fired))]


async def test_a_schedules_exchange_says_what_it_was_due_for() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        source = (
            "- from:\n    uri: quartz:nightly/backup?cron=30+*+*+*+*+?\n    steps:\n"
            "    - log: '${header.triggerGroup} ${header.triggerName} ${header.scheduledFireTime} "
            "${header.nextFireTime}'\n"
        )
        await running.engine.start(parse_flow("a", "1", source))
        await clock.advance(SECOND * 30)
    assert running.listener.messages == ["nightly backup Sun Mar 01 12:00:30 UTC 2026 Sun Mar 01 12:01:30 UTC 2026"]


async def test_a_timer_at_a_fixed_rate_leaves_out_what_was_slept_through() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        await running.engine.start(parse_flow("timer", "1", timer("fixedRate=true&delay=0&period=2s", "log: hello")))
        await clock.advance(SECOND)
        await clock.step(SECOND * 100)
        await clock.advance(SECOND * 4)
    assert [(line.at - NOON).total_seconds() for line in running.listener.lines] == [0, 101, 102, 104]


# Steps and the log


async def test_steps_work_on_the_message_in_order() -> None:
    async with running_engine() as running:
        source = timer(
            "delay=0&repeatCount=1&includeMetadata=true",
            "setBody: {constant: one}",
            "setHeader: {name: 'x-${body}', simple: '${body} two'}",
            "setBody: {simple: '${header.X-ONE}!'}",
            "log: {message: '${body}', loggingLevel: DEBUG, logName: mine, marker: m}",
            "log: {message: gone, disabled: true}",
            "log: {message: off, loggingLevel: 'OFF'}",
            "to: 'log:out?level=WARN&showExchangeId=true&showHeaders=true&showBodyType=false'",
        )
        await running.start("steps", source)
        await running.settled("steps")
    first, second = running.listener.lines
    assert (first.message, first.level, first.logger) == ("[m] one two!", Level.DEBUG, "mine")
    assert (second.level, second.logger) == (Level.WARN, "out")
    assert first.exchange_id is not None
    headers = r"\{CamelMessageTimestamp=\d+, .*x-one=one two\}"
    assert re.fullmatch(rf"Exchange\[Id: {first.exchange_id}, Headers: {headers}, Body: one two!\]", second.message)


@pytest.mark.parametrize(
    ("body", "options", "line"),
    [
        ("null", "", "Exchange[BodyType: null, Body: [Body is null]]"),
        ("'a\\nb'", "", "Exchange[BodyType: String, Body: ab]"),
        ("'a\\nb'", "skipBodyLineSeparator=false", "Exchange[BodyType: String, Body: a\nb]"),
        ("'a'", "plain=true", "a"),
        ("'abcdef'", "plain=true&maxChars=3", "abc..."),
        ("'a'", "showBody=false&showProperties=true", "Exchange[Properties: {CamelTimerCounter=1, "),
    ],
)
async def test_the_log_component_shows_the_exchange(body: str, options: str, line: str) -> None:
    async with running_engine() as running:
        fill = "log: {message: x, disabled: true}" if body == "null" else f'setBody: {{simple: "{body[1:-1]}"}}'
        await running.start(
            "shown", timer("delay=0&repeatCount=1&includeMetadata=true", fill, f"to: 'log:a?{options}'")
        )
        await running.settled("shown")
    assert running.listener.messages[0].startswith(line)


async def test_an_unexpected_error_is_logged_with_where_it_happened() -> None:
    class Failing(Route, frozen=True):
        async def process(self, *_: Any) -> None:
            raise ZeroDivisionError("division by zero")

    async with running_engine() as running:
        flow = parse_flow("bug", "1", timer("delay=0&repeatCount=1", "log: hello"))
        route = Failing(**{name: getattr(flow.routes[0], name) for name in ("id", "consumer", "steps")})
        await running.engine.start(msgspec.structs.replace(flow, routes=(route,)))
        await running.settled("bug")
    (line,) = running.listener.lines
    assert (line.exception_type, line.exception_message) == ("ZeroDivisionError", "division by zero")
    assert line.stack_trace is not None
    assert "ZeroDivisionError" in line.stack_trace


async def test_thousands_of_schedules_run_in_one_engine() -> None:
    class Counting(RememberingListener):
        async def ticks(self, ticks: Sequence[Tick]) -> None:
            self.ticked += ticks

    async with running_engine(SystemClock(), listener=Counting()) as running:
        for number in range(2000):
            await running.engine.start(logging(f"schedule-{number}", EVERY_SECOND))
        await eventually(lambda: len({tick.flow for tick in running.listener.ticked}) == 2000)
        assert len(running.engine.names()) == 2000
    fired = {(tick.flow, tick.due) for tick in running.listener.ticked}
    assert len(fired) == len(running.listener.ticked)


async def test_the_generated_flow_of_a_schedule_names_its_due_time() -> None:
    clock = SteppingClock(NOON)
    async with running_engine(clock) as running:
        await running.engine.start(parse_flow("a", "1", scheduled_command("a", "30 0 12 * * ?", "true", [])))
        await clock.advance(SECOND * 31)
        await running.settled("a")
    assert running.listener.finished[0].due == NOON + SECOND * 30
