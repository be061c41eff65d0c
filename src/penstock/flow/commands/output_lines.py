"""What a command writes, line by line while it runs, and no more lines than can be kept."""

import time
from collections.abc import Callable
from typing import Protocol

_LONGEST = 10_000  # bytes of a line; a longer one is told in pieces
_A_SECOND = 100.0
_AT_ONCE = 1000.0


class Lines(Protocol):
    """Takes lines; must not wait."""

    def line(self, stream: str, text: str) -> None:
        """stream: `stdout` or `stderr`."""
        ...

    def finished(self) -> None:
        """Nothing more comes."""
        ...


class CutLines:
    """Cuts what is added into lines. lines: None when nobody wants them."""

    def __init__(self, lines: Lines | None, stream: str) -> None:
        self._lines = lines
        self._stream = stream
        self._rest = b""

    def add(self, data: bytes) -> None:
        if self._lines is None:
            return
        *whole, self._rest = (self._rest + data).split(b"\n")
        for line in whole:
            self._tell(line)
        while len(self._rest) > _LONGEST:
            self._tell(self._rest[:_LONGEST])
            self._rest = self._rest[_LONGEST:]

    def finished(self) -> None:
        """Nothing more comes: the rest is a line."""
        if self._rest:
            self._tell(self._rest)
            self._rest = b""

    def _tell(self, line: bytes) -> None:
        assert self._lines is not None
        for start in range(0, max(len(line), 1), _LONGEST):
            self._lines.line(self._stream, line[start : start + _LONGEST].decode("utf-8", "replace").rstrip("\r"))


class BoundedLines:
    """Hands on a hundred lines a second, a thousand at once; what is beyond is counted and told.

    tell: takes the stream and the line. now: seconds.
    """

    def __init__(self, tell: Callable[[str, str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._now = now
        self._room = _AT_ONCE
        self._at = now()
        self._left_out = 0

    def line(self, stream: str, text: str) -> None:
        now = self._now()
        self._room = min(_AT_ONCE, self._room + (now - self._at) * _A_SECOND)
        self._at = now
        if self._room < 1:
            self._left_out += 1
            return
        self._room -= 1
        self.finished()
        self._tell(stream, text)

    def finished(self) -> None:
        """Tells how many lines were left out."""
        left_out, self._left_out = self._left_out, 0
        if left_out:
            self._tell("stderr", f"{left_out} lines were left out: more than {_A_SECOND:g} a second")
