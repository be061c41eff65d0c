"""Runs of commands by flows: real processes, what is told of them."""

import asyncio
from collections.abc import Sequence

import pytest

from penstock.flow.commands.orphans import marked
from penstock.flow.listener import Level, Tick
from tests.conformance.running_engine import eventually, running_engine
from tests.conformance.timed_flows import timer
from tests.unit.flow_listener import RememberingListener


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
