"""What a kernel uses: memory of all its processes, and its working folder."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST_FILES = 20_000


class ProcessTable:
    """Who is whose child; read at most every `max_age` seconds, whoever asks. May be used by several threads."""

    def __init__(self, max_age: float = 0.2) -> None:
        self._max_age = max_age
        self._read_at = float("-inf")
        self._children: Mapping[int, Sequence[int]] = {}

    def memory_of(self, process: int, enough: int = 0) -> int:
        """Bytes in memory of a process and all below it that no file backs; 0 when it has ended.

        What processes share counts once. That costs more, so up to `enough` the answer is an upper bound.
        """
        tree = self._tree(process)
        bound = sum(map(_resident, tree))
        return bound if bound <= enough else sum(map(_proportional, tree))

    def _tree(self, process: int) -> list[int]:
        if time.monotonic() - self._read_at > self._max_age:
            self._children, self._read_at = _children(), time.monotonic()
        children = self._children
        found, waiting = list[int](), [process]
        while waiting:
            found.append(waiting.pop())
            waiting += children.get(found[-1], ())
        return found


def disk_of(folder: Path) -> int:
    """Bytes of the files below a folder; of a folder with very many, more than any limit."""
    total = count = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            count += 1
            if count > _MOST_FILES:
                return 1 << 62
            try:
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512
            except OSError:
                continue  # gone meanwhile
    return total


def _children() -> Mapping[int, Sequence[int]]:
    found: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            found.setdefault(_parent(int(entry)), []).append(int(entry))
    return found


def _parent(process: int) -> int:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            # The name may hold anything, so count from its closing bracket.
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return -1


def _proportional(process: int) -> int:
    """As _resident, with each shared page divided among those that share it."""
    try:
        with open(f"/proc/{process}/smaps_rollup", "rb") as file:
            sizes = dict(line.split(b":", 1) for line in file.read().splitlines()[1:])
        return int(sizes[b"Pss_Anon"].split()[0]) * 1024 + int(sizes[b"Pss_Shmem"].split()[0]) * 1024
    except (OSError, KeyError):
        return _resident(process)


def _resident(process: int) -> int:
    try:
        with open(f"/proc/{process}/statm", "rb") as file:
            _, resident, shared, *_ = file.read().split()
    except OSError:
        return 0
    return (int(resident) - int(shared)) * _PAGE
