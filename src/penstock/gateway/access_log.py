"""The access log that Envoy writes, read on from a known place however often we are ended.

Envoy opens the file for appending and keeps it open. To begin a new one, the file gets the name of the old one and
Envoy is told to open its log again; once there is a file of the first name again, nothing more comes into the old one.
"""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
import structlog

from penstock.gateway.logged_call import LoggedCall

LARGEST = 64 * 2**20
"""Bytes at which a new file is begun."""
_AT_ONCE = 2**20
_BEGIN = b'{"'  # a quote within a text is escaped, so this begins a line and nothing else
_log = structlog.get_logger(__name__)
_decoder = msgspec.json.Decoder(LoggedCall)


class Place(msgspec.Struct, frozen=True):
    """How far a log was read. file: the inode, 0 before anything was; offset: in bytes."""

    file: int = 0
    offset: int = 0


class Read(NamedTuple):
    """calls up to a place. more: whether there was more to read at once."""

    calls: list[LoggedCall]
    place: Place
    more: bool


class AccessLog:
    """path: of the file that Envoy writes; the one before it is beside it, until it has been read.

    reopen: has Envoy open its log again.
    """

    def __init__(self, path: Path, reopen: Callable[[], Awaitable[None]], largest: int = LARGEST) -> None:
        self._path = path
        self._old = path.with_name(path.name + ".old")
        self._reopen = reopen
        self._largest = largest

    def read(self, place: Place) -> Read:
        """Whole lines after the place. At the end of the old file, the place is the beginning of the new one."""
        old, new = _inode(self._old), _inode(self._path)
        if place.file not in (old, new) or place.file == 0:
            place = Place(old or new or 0)
        if not place.file:
            return Read([], Place(), more=False)
        is_old = place.file == old
        found = _read_on(self._old if is_old else self._path, place)
        if not is_old or not new:
            return found
        # There is a new file, seen before we read: nothing comes into the old one any more.
        return found._replace(more=True) if found.place != place else Read([], Place(new), more=True)

    def forget_old(self, place: Place) -> None:
        """Removes the old file when the place, which is on disk, is in the new one."""
        if place.file and place.file == _inode(self._path):
            self._old.unlink(missing_ok=True)

    async def rotate(self) -> None:
        """Begins a new file when this one has grown large and the one before has been read."""
        if not self._old.exists() and _size(self._path) > self._largest:
            os.replace(self._path, self._old)  # noqa: ASYNC
        if self._old.exists() and not self._path.exists():
            await self._reopen()  # again, when we were ended before we could, or it has not come to it


def _read_on(path: Path, place: Place) -> Read:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < place.offset:
            _log.error("access log became shorter, reading it from its beginning", path=str(path))
            place = Place(place.file)
        file.seek(place.offset)
        data = file.read(_AT_ONCE)
    end = data.rfind(b"\n") + 1
    if not end and len(data) == _AT_ONCE:
        _log.error("a line of the access log is too long and is passed over")
        end = len(data)
    reached = Place(place.file, place.offset + end)
    calls = [call for line in data[:end].splitlines() if (call := _call(line)) is not None]
    return Read(calls, reached, more=reached.offset < size and len(data) == _AT_ONCE)


def _call(line: bytes) -> LoggedCall | None:
    """The call of a line. An Envoy that was killed leaves a line without its end; the next one's follows it."""
    try:
        return _decoder.decode(line[max(line.rfind(_BEGIN), 0) :])
    except (msgspec.DecodeError, UnicodeDecodeError):
        _log.warning("a line of the access log cannot be read")  # not shown: it may be anything
        return None


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
