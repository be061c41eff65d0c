"""Commands of flows, with real processes."""

import asyncio
import json
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.flow.commands.command import (
    AGENT_MARKER,
    Command,
    CommandFailed,
    CommandRunner,
    Outcome,
    base_environment,
)
from penstock.flow.commands.orphans import marked, sweep
from tests.conformance.running_engine import eventually

RUN = "PENSTOCK_RUN"
SHOW = """
import json, os, sys
print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd(), os.getsid(0) == os.getpid()]))
"""
# Leaves its parent, its group and its session, as daemons do, then tells that it is there.
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(sys.argv[1], "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
time.sleep(600)
"""


@pytest.fixture
def runner() -> CommandRunner:
    return CommandRunner(base_environment(os.environ), patience=timedelta(seconds=2))


def new_run() -> str:
    return f"run-{os.urandom(8).hex()}"


async def run(runner: CommandRunner, *argv: str, timeout: float | None = None, folder: str | None = None) -> Outcome:
    limit = timedelta(seconds=timeout) if timeout is not None else None
    return await runner.run(Command(argv, folder, limit), new_run())


async def shell(runner: CommandRunner, script: str, timeout: float | None = None) -> Outcome:
    return await run(runner, "sh", "-c", script, timeout=timeout)


async def test_arguments_reach_the_process_exactly_and_no_shell_reads_them(runner: CommandRunner) -> None:
    args = ["", " ", "a b", "$HOME", "`id`", "*", "'\"", "\n", "--", "-x", "ä漢🚰", "\\", ";true", "{{x}}", "${body}"]
    outcome = await run(runner, sys.executable, "-c", SHOW, *args)
    assert json.loads(outcome.stdout.text())[0] == args


async def test_the_environment_is_the_harmless_part_and_the_markers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "s3cret")
    monkeypatch.setenv("LC_TIME", "C")
    runner = CommandRunner({**base_environment(os.environ), AGENT_MARKER: "boot-1"})
    outcome = await runner.run(Command((sys.executable, "-c", SHOW)), "run-1")
    environment = json.loads(outcome.stdout.text())[1]
    assert environment["PENSTOCK_AGENT_RUN"] == "boot-1"
    assert environment["PENSTOCK_RUN"] == "run-1"
    assert environment["LC_TIME"] == "C"
    assert "DATABASE_PASSWORD" not in environment


async def test_a_command_has_a_session_of_its_own_and_nothing_to_read(runner: CommandRunner, tmp_path: Path) -> None:
    outcome = await run(runner, sys.executable, "-c", SHOW, folder=str(tmp_path))
    _, _, folder, leads = json.loads(outcome.stdout.text())
    assert folder == str(tmp_path)
    assert leads
    assert (await run(runner, "cat")).stdout.total == 0


async def test_standard_output_and_error_are_kept_apart_and_together(runner: CommandRunner) -> None:
    outcome = await shell(runner, "echo out; echo err >&2; exit 3")
    assert (outcome.stdout.text(), outcome.stderr.text()) == ("out\n", "err\n")
    assert sorted(outcome.output.text().split()) == ["err", "out"]
    assert outcome.exit_code == 3


async def test_an_end_by_signal_is_told_as_minus_its_number(runner: CommandRunner) -> None:
    assert (await shell(runner, "kill -9 $$")).exit_code == -signal.SIGKILL


async def test_a_chatty_command_is_read_to_its_end_and_only_the_end_is_kept(runner: CommandRunner) -> None:
    outcome = await shell(runner, "yes | head -c 30000000; echo; echo the end")
    assert outcome.stdout.total == 30_000_000 + len("\nthe end\n")
    assert outcome.stdout.dropped == outcome.stdout.total - 65_536
    assert outcome.stdout.text().endswith("y\n\nthe end\n")


async def test_other_work_goes_on_beside_a_chatty_command(runner: CommandRunner) -> None:
    async with asyncio.TaskGroup() as tasks:
        chatty = tasks.create_task(shell(runner, "exec yes", timeout=2))
        rounds = 0
        while not chatty.done():
            await asyncio.sleep(0.01)
            rounds += 1
    assert chatty.result().timed_out
    assert rounds >= 20


async def test_a_child_that_keeps_the_output_open_does_not_keep_the_run_going(runner: CommandRunner) -> None:
    run_id = new_run()
    outcome = await runner.run(Command(("sh", "-c", "echo started; sleep 600 &")), run_id)
    assert outcome.stdout.text() == "started\n"
    assert sweep(RUN, run_id) == 1


@pytest.mark.parametrize(
    ("argv", "folder", "message"),
    [
        (("no-such-command",), None, "command 'no-such-command' does not exist on this agent"),
        (("/no/such/command",), None, "command '/no/such/command' does not exist on this agent"),
        (("true",), "/no/such/folder", "working directory '/no/such/folder' does not exist on this agent"),
        (("/etc/passwd",), None, "command '/etc/passwd' is not executable on this agent"),
        (("/tmp",), None, "command '/tmp' is not executable on this agent"),
        (("true", "a\0b"), None, "command 'true' cannot be started: embedded null byte"),
        (("true", "x" * 3_000_000), None, "command 'true' cannot be started: Argument list too long"),
    ],
)
async def test_a_command_that_cannot_be_started_says_why(
    runner: CommandRunner, argv: tuple[str, ...], folder: str | None, message: str
) -> None:
    with pytest.raises(CommandFailed) as failed:
        await run(runner, *argv, folder=folder)
    assert failed.value.detail == message


async def test_a_script_whose_interpreter_is_missing_says_so(runner: CommandRunner, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    with pytest.raises(CommandFailed, match="interpreter that command"):
        await run(runner, str(script))


async def test_commands_that_cannot_be_started_leave_no_descriptors_behind(runner: CommandRunner) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        with pytest.raises(CommandFailed):
            await run(runner, "no-such-command")
        await run(runner, "true")
    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_command_over_its_time_limit_is_asked_to_end(runner: CommandRunner) -> None:
    outcome = await shell(runner, "trap 'echo asked; exit 7' TERM; while :; do sleep 0.1; done", timeout=0.5)
    assert outcome.timed_out
    assert outcome.exit_code == 7
    assert outcome.stdout.text() == "asked\n"


async def test_a_command_that_does_not_end_when_asked_is_killed_with_its_group() -> None:
    runner = CommandRunner(base_environment(os.environ), patience=timedelta(seconds=0.2))
    run_id = new_run()
    script = "trap '' TERM; (trap '' TERM; sleep 600) & sleep 600"
    outcome = await runner.run(Command(("sh", "-c", script), timeout=timedelta(seconds=0.5)), run_id)
    assert outcome.exit_code == -signal.SIGKILL
    assert marked(RUN, run_id) == []


async def test_a_cancelled_command_is_gone_with_all_it_started_wherever_that_went(
    runner: CommandRunner, tmp_path: Path
) -> None:
    told = tmp_path / "daemon"
    run_id = new_run()
    task = asyncio.create_task(runner.run(Command((sys.executable, "-c", DAEMON, str(told))), run_id))
    await eventually(lambda: told.exists() and told.read_text() != "")
    assert len(marked(RUN, run_id)) >= 2
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert marked(RUN, run_id) == []


async def test_many_commands_at_once_all_end(runner: CommandRunner) -> None:
    outcomes = await asyncio.gather(*(shell(runner, f"echo {number}") for number in range(200)))
    assert [outcome.stdout.text() for outcome in outcomes] == [f"{number}\n" for number in range(200)]


async def test_many_cancelled_commands_are_all_gone(runner: CommandRunner) -> None:
    runs = [new_run() for _ in range(30)]
    tasks = [asyncio.create_task(runner.run(Command(("sleep", "600")), run_id)) for run_id in runs]
    await eventually(lambda: len(marked(RUN, *runs)) == 30)
    for task in tasks:
        task.cancel()
    assert all(
        isinstance(result, asyncio.CancelledError) for result in await asyncio.gather(*tasks, return_exceptions=True)
    )
    assert marked(RUN, *runs) == []
