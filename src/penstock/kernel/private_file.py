"""Files that only their owner can read, whole or absent whenever the process ends."""

import os
from contextlib import suppress
from pathlib import Path


def write_private(path: Path, content: str | bytes, *, replace: bool = True) -> None:
    """Writes the file, on disk when this returns. replace: whether one that is there goes; else it stays as it is."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            aside.replace(path)
        else:
            with suppress(FileExistsError):
                os.link(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    """The new name reaches the disk with the folder."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
