"""What a child process writes, kept in files of bounded size."""

import os
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

LARGEST = 10 * 2**20
KEPT = 3
_LAST_LINES = 30


class LogFile:
    """Appends to `path`; at 10 MiB the file becomes `path.1`, and so on to `path.3`."""

    def __init__(self, path: Path, largest: int = LARGEST) -> None:
        self.path = path
        self._largest = largest
        self._last: deque[bytes] = deque(maxlen=_LAST_LINES)
        self._begun = b""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = _opened(path)

    def begin(self) -> None:
        """Another run of the process writes from now on."""
        self._last.clear()
        self._begun = b""

    def write(self, data: bytes) -> None:
        """On a full disk what does not fit is lost: a log must not end what it tells of."""
        with suppress(OSError):
            if self._file.tell() + len(data) > self._largest:
                self._rotate()
            self._file.write(data)
        *lines, self._begun = (self._begun + data)[-self._largest :].split(b"\n")
        self._last.extend(lines)

    def last_lines(self) -> list[str]:
        """The last lines of this run, for telling why a process ended."""
        return [line.decode(errors="replace") for line in (*self._last, self._begun) if line.strip()]

    def close(self) -> None:
        self._file.close()

    def _rotate(self) -> None:
        self._file.close()
        for number in range(KEPT - 1, 0, -1):
            older = self._numbered(number)
            if older.exists():
                older.replace(self._numbered(number + 1))
        self.path.replace(self._numbered(1))
        self._file = _opened(self.path)

    def _numbered(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")


def _opened(path: Path) -> BinaryIO:
    return open(path, "ab", buffering=0, opener=lambda name, flags: os.open(name, flags, 0o600))
