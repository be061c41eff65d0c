"""Running commands: without a shell, in a session of their own, ended together with all they started."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta

import msgspec
import structlog

from penstock.flow.commands.orphans import sweep
from penstock.flow.commands.output import OutputPipe, Tail
from penstock.flow.commands.output_lines import CutLines, Lines
from penstock.kernel.errors import PenstockError
from penstock.packages.environment import Environments

_log = structlog.get_logger(__name__)

RUN_MARKER = "PENSTOCK_RUN"
AGENT_MARKER = "PENSTOCK_AGENT_RUN"

_INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR")
_FALLBACK_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class CommandFailed(PenstockError):
    """A command could not be started, ran too long, or ended with a value that counts as failure."""

    code = "command-failed"
    title = "The command failed"


class Command(msgspec.Struct, frozen=True):
    """argv: the program, found on PATH, and its arguments, exactly. timeout: None for no limit.

    environment: beside what all commands have. programs: a folder that comes before all others on PATH.
    """

    argv: tuple[str, ...]
    working_dir: str | None = None
    timeout: timedelta | None = None
    environment: tuple[tuple[str, str], ...] = ()
    programs: str | None = None


class Outcome(msgspec.Struct, frozen=True):
    """How a command ended. exit_code: minus the signal's number when a signal ended it;
    None when it could not even be killed.

    timed_out: it was ended for running too long. stdout, stderr: their ends. output: the end of both together,
    output_bytes: how much that was in all.
    """

    exit_code: int | None
    timed_out: bool
    stdout: Tail
    stderr: Tail
    output: Tail


def base_environment(names: Mapping[str, str]) -> dict[str, str]:
    """What commands get of `names`, the agent's environment: where to find things and how to write, no more."""
    passed = {name: names[name] for name in _INHERITED if name in names}
    passed.update((name, value) for name, value in names.items() if name.startswith("LC_"))
    passed.setdefault("PATH", _FALLBACK_PATH)
    return passed


class CommandRunner:
    """Starts commands and sees them through.

    environment: of every command. kept_output: bytes kept of each output. parallel: commands at the same time;
    more wait for their turn. patience: time between the polite and the final signal. environments: where packages that
    bring commands are installed.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        kept_output: int = 65_536,
        parallel: int = 256,
        patience: timedelta = timedelta(seconds=2),
        environments: Environments | None = None,
    ) -> None:
        self._environment = dict(environment)
        self._kept_output = kept_output
        self.environments = environments
        self._turns = asyncio.Semaphore(parallel)
        self._patience = patience.total_seconds()
        self._to_sweep: set[str] = set()
        self._sweeping = asyncio.Lock()

    @property
    def environment(self) -> Mapping[str, str]:
        """Of every process, with the marker that the watchdog finds it by."""
        return self._environment

    def turn(self) -> asyncio.Semaphore:
        """To be held around `run`, so that the wait for a turn is not part of the run."""
        return self._turns

    async def run(self, command: Command, run_id: str, lines: Lines | None = None) -> Outcome:
        """Runs the command to its end. Raises CommandFailed when it cannot be started.

        lines: takes what it writes, too, line by line while it runs.

        When cancelled, or over the time limit, the process group gets SIGTERM, then SIGKILL, and whoever left the
        group but still carries the run's marker is killed.
        """
        tails = Tail(self._kept_output), Tail(self._kept_output), Tail(self._kept_output)
        stdout, stderr, output = tails
        cut = CutLines(lines, "stdout"), CutLines(lines, "stderr")
        pipes = OutputPipe(stdout, output, cut[0]), OutputPipe(stderr, output, cut[1])
        try:
            process = _spawn(command, self._environment_of(command, run_id), *pipes)
        except BaseException:
            for pipe in pipes:
                pipe.abandoned()
            raise
        for pipe in pipes:
            pipe.started()
        try:
            timed_out = await self._wait(process, command.timeout, run_id)
        finally:
            for pipe, rest in zip(pipes, cut, strict=True):
                pipe.finished()
                rest.finished()
            if lines is not None:
                lines.finished()
        return Outcome(process.returncode, timed_out, *tails)

    def _environment_of(self, command: Command, run_id: str) -> dict[str, str]:
        environment = {**self._environment, **dict(command.environment), RUN_MARKER: run_id}
        if AGENT_MARKER in self._environment:  # what the command is found by when it must end is not its own to say
            environment[AGENT_MARKER] = self._environment[AGENT_MARKER]
        if command.programs is not None:
            environment["PATH"] = f"{command.programs}:{environment.get('PATH', _FALLBACK_PATH)}"
        return environment

    async def _wait(self, process: subprocess.Popen[bytes], limit: timedelta | None, run_id: str) -> bool:
        """Waits for the end; answers whether the time limit brought it about."""
        ended = _Ended(process.pid)
        try:
            async with asyncio.timeout(limit.total_seconds() if limit is not None else None):
                await ended.wait()
        except TimeoutError:
            await self._end(process, ended, run_id)
            return True
        except asyncio.CancelledError:
            await self._end(process, ended, run_id)
            raise
        finally:
            ended.close()
            _reap(process)
        return False

    async def _end(self, process: subprocess.Popen[bytes], ended: "_Ended", run_id: str) -> None:
        try:
            _signal_group(process.pid, signal.SIGTERM)
            await ended.within(self._patience)
        finally:
            # The leader is not reaped yet, so its id, and the group's, cannot belong to others.
            _signal_group(process.pid, signal.SIGKILL)
        await ended.within(self._patience)
        await self._sweep(run_id)

    async def _sweep(self, run_id: str) -> None:
        """Kills whoever left the run's group. Many runs that end at once share a look at the processes."""
        self._to_sweep.add(run_id)
        async with self._sweeping:
            if run_id in self._to_sweep:
                runs, self._to_sweep = self._to_sweep, set()
                await asyncio.to_thread(sweep, RUN_MARKER, *runs)


class _Ended:
    """The end of a child process, by pidfd: no thread and no watcher, on any event loop."""

    def __init__(self, pid: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        self._handle = os.pidfd_open(pid)
        self._loop.add_reader(self._handle, self._event.set)

    async def wait(self) -> None:
        await self._event.wait()
        self._loop.remove_reader(self._handle)

    async def within(self, seconds: float) -> None:
        """Like `wait`, but returns after `seconds` in any case."""
        waiter = asyncio.ensure_future(self.wait())
        try:
            await asyncio.wait({waiter}, timeout=seconds)
        finally:
            waiter.cancel()

    def close(self) -> None:
        self._loop.remove_reader(self._handle)
        os.close(self._handle)


def _reap(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        _log.warning("Command cannot be killed, it waits in the kernel", pid=process.pid)


def _signal_group(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # all have ended
        os.killpg(group, number)


def _spawn(
    command: Command, environment: Mapping[str, str], stdout: OutputPipe, stderr: OutputPipe
) -> subprocess.Popen[bytes]:
    program = command.argv[0]
    try:
        return subprocess.Popen(  # noqa: S603 - running what the flow says is what this is for
            command.argv,
            stdin=subprocess.DEVNULL,
            stdout=stdout.writer,
            stderr=stderr.writer,
            cwd=command.working_dir,
            env=environment,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise CommandFailed(_what_is_missing(command)) from None
    except PermissionError:
        raise CommandFailed(f"command '{program}' is not executable on this agent") from None
    except OSError as error:
        raise CommandFailed(f"command '{program}' cannot be started: {error.strerror}") from None
    except ValueError as error:
        raise CommandFailed(f"command '{program}' cannot be started: {error}") from None


def _what_is_missing(command: Command) -> str:
    program = command.argv[0]
    if command.working_dir is not None and not os.path.isdir(command.working_dir):
        return f"working directory '{command.working_dir}' does not exist on this agent"
    if "/" in program and os.path.exists(os.path.join(command.working_dir or "", program)):
        return f"the interpreter that command '{program}' names does not exist on this agent"
    return f"command '{program}' does not exist on this agent"
