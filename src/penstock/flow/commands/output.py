"""What a command writes: its end is kept, the rest counted."""

import asyncio
import os
from typing import Protocol

_READ = 65_536
_DRAINED = 1_048_576  # more than a pipe holds; a command's child may write on for ever


class Tail:
    """The last `limit` bytes of what was added. total: bytes in all."""

    __slots__ = ("_bytes", "_limit", "total")

    def __init__(self, limit: int) -> None:
        self._bytes = bytearray()
        self._limit = limit
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        self._bytes += data
        if len(self._bytes) > 2 * self._limit:
            del self._bytes[: -self._limit]

    @property
    def dropped(self) -> int:
        """Bytes that are not kept."""
        return max(0, self.total - self._limit)

    def text(self) -> str:
        """What is kept, as UTF-8; a character that the cut went through is left out."""
        kept = bytes(self._bytes[-self._limit :])
        if self.dropped:
            kept = kept.lstrip(bytes(range(0x80, 0xC0)))
        return kept.decode("utf-8", "replace")


class Taker(Protocol):
    """Takes what a command writes, piece by piece."""

    def add(self, data: bytes) -> None: ...


class OutputPipe:
    """A pipe that a command writes to, read by the event loop into tails, never waiting for either side."""

    def __init__(self, *tails: Taker) -> None:
        self._tails = tails
        self._reader, self.writer = os.pipe()
        self._loop = asyncio.get_running_loop()
        self._open = False

    def started(self) -> None:
        """The command holds the writing end now."""
        os.close(self.writer)
        os.set_blocking(self._reader, False)
        self._loop.add_reader(self._reader, self._read)
        self._open = True

    def abandoned(self) -> None:
        """No command was started."""
        os.close(self.writer)
        os.close(self._reader)

    def finished(self) -> None:
        """The command has ended: takes what is still in the pipe; who else holds it writes to nobody."""
        left = _DRAINED
        while self._open and left > 0 and (taken := self._read()):
            left -= taken
        self._close()

    def _read(self) -> int:
        """Takes one piece and answers its size, 0 when there is none. Closes at the end of the pipe."""
        try:
            data = os.read(self._reader, _READ)
        except BlockingIOError:
            return 0
        for tail in self._tails:
            tail.add(data)
        if not data:
            self._close()
        return len(data)

    def _close(self) -> None:
        if self._open:
            self._open = False
            self._loop.remove_reader(self._reader)
            os.close(self._reader)
