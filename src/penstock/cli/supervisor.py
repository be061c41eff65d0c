"""Keeps child processes running until told to stop, then ends them in good order."""

import signal
import time
from collections.abc import Callable
from typing import NoReturn

from penstock.cli.child import Child
from penstock.cli.failure import EXIT_USAGE
from penstock.cli.wakeup import Wakeup

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
_STEADY_SECONDS = 60.0
_POLL_SECONDS = 0.1
_STOP_SECONDS = 9.0  # for all children together
_STOP_SECONDS_EACH = 4.5

Tell = Callable[[str], None]


class Stopped(Exception):
    """We were asked to stop."""


class StartFailed(Exception):
    """A child ended before it was ready, or cannot run with its settings; its log tells why."""

    def __init__(self, child: Child) -> None:
        super().__init__(f"the {child.name} {ending(child.exit_code or 0)}")
        self.child = child


class Supervised:
    """A child and when to start it again. A child that keeps dying is started ever more slowly.

    kept: whether it is started again when it ends. needed: the others go on without one that is not.
    """

    def __init__(self, child: Child, needed: bool = True) -> None:
        self.child = child
        self.needed = needed
        self.kept = False
        self.again_at: float | None = None
        self._pause = FIRST_PAUSE
        self._started = 0.0

    def start(self) -> None:
        self.child.start()
        self.again_at = None
        self._started = time.monotonic()

    def plan_restart(self) -> float:
        """How long until it is started again."""
        now = time.monotonic()
        if now - self._started > _STEADY_SECONDS:
            self._pause = FIRST_PAUSE
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE)
        self.again_at = now + pause
        return pause


class Supervisor:
    """Ends children in the opposite order of their starts."""

    def __init__(self, wakeup: Wakeup, tell: Tell) -> None:
        self._wakeup = wakeup
        self._tell = tell
        self._children: list[Supervised] = []

    def keep(self, child: Child, ready: Callable[[], bool]) -> None:
        """Starts a child, and once it is ready keeps it running. Raises StartFailed, Stopped."""
        supervised = Supervised(child)
        self._children.append(supervised)
        self._launch(supervised)
        while not ready():
            if child.exit_code is not None:
                child.drain()
                raise StartFailed(child)
            self._pass(_POLL_SECONDS)
        supervised.kept = True

    def begin(self, child: Child) -> None:
        """Starts a child that the others can do without, and keeps it running unless it cannot with its settings."""
        supervised = Supervised(child, needed=False)
        self._children.append(supervised)
        self._launch(supervised)
        supervised.kept = True

    def wait(self, done: Callable[[], bool]) -> None:
        """Goes on supervising until `done`. Raises StartFailed, Stopped."""
        while not done():
            self._pass(_POLL_SECONDS)

    def run(self, look: Callable[[], float | None]) -> NoReturn:
        """Goes on supervising until told to stop, which raises Stopped. Raises StartFailed.

        look: called now and then; answers in how many seconds at the latest it wants to be again, None for whenever.
        """
        while True:
            self._pass(look())

    def stop(self) -> None:
        """Ends the children, one after the other; a second signal kills those that are left."""
        asked = self._wakeup.stops
        deadline = time.monotonic() + _STOP_SECONDS
        for child in [each.child for each in reversed(self._children)]:
            child.end()
            until = min(deadline, time.monotonic() + _STOP_SECONDS_EACH)
            while child.running and time.monotonic() < until and self._wakeup.stops <= asked:
                self._wakeup.wait(_POLL_SECONDS)
            if child.running:
                self._tell(f"The {child.name} does not stop and is killed.")
                child.kill()

    def _pass(self, longest: float | None) -> None:
        """One round: waits for something to happen and reacts to it."""
        if self._wakeup.stops:
            raise Stopped
        now = time.monotonic()
        waits = [max(0.0, each.again_at - now) for each in self._children if each.again_at is not None]
        self._wakeup.wait(min(waits if longest is None else [*waits, longest], default=None))
        for each in self._children:
            if each.kept:
                self._look_after(each)

    def _look_after(self, each: Supervised) -> None:
        child = each.child
        if each.again_at is None and child.exit_code is not None:
            if child.exit_code == EXIT_USAGE:  # no restart changes its settings
                self._give_up(each)
                return
            soon = f"it is started again in {each.plan_restart():g} s."
            self._tell(f"The {child.name} {ending(child.exit_code)}; {soon}{_log_of(child)}")
        elif each.again_at is not None and each.again_at <= time.monotonic():
            self._launch(each)

    def _give_up(self, each: Supervised) -> None:
        """Raises StartFailed for one that is needed."""
        each.child.drain()
        if each.needed:
            raise StartFailed(each.child)
        each.kept = False
        reasons = each.child.log.last_lines() if each.child.log is not None else []
        self._tell("\n  ".join([f"The {each.child.name} cannot run; everything else does.", *reasons]))

    def _launch(self, each: Supervised) -> None:
        child = each.child
        if child.output is not None:
            self._wakeup.forget(child.output)
        each.start()
        if child.output is not None:
            self._wakeup.watch(child.output, child.drain)


def _log_of(child: Child) -> str:
    """Where its log is and, when it ended by itself, what it said last."""
    if child.log is None:
        return ""
    child.drain()
    last = child.log.last_lines()[-1:] if child.exit_code and child.exit_code > 0 else []
    return "\n  ".join([f" Its log is {child.log.path}{':' if last else '.'}", *last])


def ending(exit_code: int) -> str:
    """How a process ended, in words."""
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    return f"was ended by {signal.Signals(-exit_code).name}"
