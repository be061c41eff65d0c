"""A process of ours that ends with us."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO

from penstock.cli.log_file import LogFile
from penstock.kernel.parent import asked_to_end_with

_AT_ONCE = 1 << 16


class Child:
    """A program that can be started again and again.

    command: arguments after `python -m`. environment: asked for at each start.
    log: takes what it writes; None leaves it to the terminal.
    """

    def __init__(
        self, name: str, command: Sequence[str], environment: Callable[[], Mapping[str, str]], log: LogFile | None
    ) -> None:
        self.name = name
        self.log = log
        # -P: modules in the working directory must not stand in for ours or Python's.
        self._command = [sys.executable, "-P", "-m", *command]
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    @property
    def output(self) -> IO[bytes] | None:
        """What the last run writes, to be moved to the log by `drain`; None when it goes to the terminal."""
        return self._process.stdout if self._process else None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """Of the last run; negative is the number of the signal that ended it. None while it runs or never did."""
        return self._process.poll() if self._process else None

    def start(self) -> None:
        """Starts it in a session of its own: Ctrl-C reaches us alone, and we end it in good order."""
        if self.output is not None:
            self.output.close()
        if self.log is not None:
            self.log.begin()
        self._process = subprocess.Popen(  # noqa: S603 - a program of ours
            self._command,
            bufsize=0,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if self.log else None,
            stderr=subprocess.STDOUT if self.log else None,
            start_new_session=True,
            preexec_fn=asked_to_end_with(os.getpid()),
        )
        if self._process.stdout is not None:
            os.set_blocking(self._process.stdout.fileno(), False)

    def drain(self) -> bool:
        """Moves what it has written into its log; False when it has closed its output."""
        if self.output is None or self.log is None:
            return False
        data = self.output.read(_AT_ONCE)
        if data:
            self.log.write(data)
        return data != b""

    def end(self) -> None:
        """Asks it to stop."""
        if self._process is not None and self.running:
            self._process.terminate()

    def kill(self) -> None:
        """Ends it and what it has started, at once."""
        if self._process is not None and self.running:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
