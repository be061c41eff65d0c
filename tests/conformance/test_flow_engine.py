"""What exchanges go through, and how many flows one engine holds."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from penstock.flow.commands.scheduled_command import scheduled_command
from penstock.flow.listener import Level, Tick
from penstock.flow.parsing.parser import parse_flow
from penstock.flow.route import Route
from penstock.kernel.clock import SystemClock
from tests.conformance.running_engine import EVERY_SECOND, eventually, running_engine
from tests.conformance.timed_flows import NOON, SECOND, logging, timer
from tests.unit.flow_listener import RememberingListener
from tests.unit.stepping_clock import SteppingClock


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
