"""Waiting for whatever comes first: a signal, output of a child, or time."""

import os
import selectors
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import IO

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Wakeup:
    """stops: how many signals have asked us to stop."""

    def __init__(self) -> None:
        self.stops = 0
        self._selector = selectors.DefaultSelector()
        self._read, self._write = os.pipe()
        for end in (self._read, self._write):
            os.set_blocking(end, False)
        self._selector.register(self._read, selectors.EVENT_READ)

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Within it, stop signals are counted and the end of a child wakes us."""
        before = {number: signal.signal(number, self._stop) for number in STOPS}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(-1)
            for number, handler in before.items():
                signal.signal(number, handler)

    def watch(self, stream: IO[bytes], react: Callable[[], bool]) -> None:
        """Calls `react` when there is something to read; False from it ends the watch."""
        self._selector.register(stream, selectors.EVENT_READ, react)

    def forget(self, stream: IO[bytes]) -> None:
        """Ends a watch, if there is one."""
        if stream in self._selector.get_map():
            self._selector.unregister(stream)

    def wait(self, seconds: float | None) -> None:
        """Returns when something happened, or after so many seconds."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                self._empty()
            elif not key.data():
                self._selector.unregister(key.fileobj)

    def _empty(self) -> None:
        try:
            while os.read(self._read, 512):
                pass
        except BlockingIOError:
            return

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stops += 1
