"""Files that runs made in their working folder."""

import mimetypes
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

_MOST = 100
_MOST_SEEN = 5000
_BINARY = "application/octet-stream"

Seen = dict[str, tuple[int, int]]
"""Of each file, by its path: time of change and size."""


class MadeFile(msgspec.Struct, frozen=True, kw_only=True):
    """name: path below the working folder. content: None when it is larger than what is kept of a run."""

    name: str
    media_type: str
    size: int
    content: bytes | None


def is_empty(folder: Path) -> bool:
    """Whether there is nothing in it, which costs next to nothing to know."""
    with suppress(OSError), os.scandir(folder) as entries:
        return next(entries, None) is None
    return True


def look(folder: Path) -> Seen:
    """The files that are there."""
    return {name: (status.st_mtime_ns, status.st_size) for name, status, _ in _walk(folder)}


def changed_files(folder: Path, before: Seen, most_bytes: int) -> list[MadeFile]:
    """Files that are new or changed, by name, as long as they fit into `most_bytes` together.

    Nothing but plain files is opened, and no link is followed: what lies there is not to be trusted.
    """
    found: list[MadeFile] = []
    left = most_bytes
    for name, status, parent in _walk(folder):
        if before.get(name) == (status.st_mtime_ns, status.st_size) or len(found) == _MOST:
            continue
        content = _content(parent, name.rsplit("/", 1)[-1], left)
        left -= len(content or b"")
        media_type = mimetypes.guess_type(name)[0] or _BINARY
        found.append(MadeFile(name=name, media_type=media_type, size=status.st_size, content=content))
    return sorted(found, key=lambda file: file.name)


def _walk(folder: Path) -> Iterator[tuple[str, os.stat_result, int]]:
    """Path, status and folder's handle of each plain file that does not hide."""
    count = 0
    for parent, folders, names, handle in os.fwalk(folder, follow_symlinks=False):
        folders[:] = [name for name in folders if not name.startswith((".", "__pycache__"))]
        prefix = os.path.relpath(parent, folder)
        for name in names:
            count += 1
            if count > _MOST_SEEN:
                return
            status = os.stat(name, dir_fd=handle, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode) and not name.startswith(".") and _is_text(name):
                yield name if prefix == "." else f"{prefix}/{name}", status, handle


def _is_text(name: str) -> bool:
    """Whether the name is text; others cannot be told to anybody."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _content(parent: int, name: str, most: int) -> bytes | None:
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        content = file.read(most + 1)
    return content if len(content) <= most else None
