"""A folder for what one run of a program needs only while it runs, such as sockets."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self


class RunFolder:
    """A new folder in `parent`, named `<prefix>...`, that only its user may enter, until `close`.

    It is locked while its maker lives. Making one removes those in the same place whose makers were killed.
    """

    def __init__(self, parent: Path, prefix: str) -> None:
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _remove_abandoned(parent, prefix)
        self.path, self._handle = _made(parent, prefix)

    def reach(self, name: str) -> Path:
        """A path of what is in it, for this process alone: short enough for a socket, however deep the folder lies."""
        return Path(f"/proc/self/fd/{self._handle}") / name

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _made(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        handle = _locked(path)
        if handle is None:
            continue  # somebody took it for an abandoned one, and removes it
        if os.fstat(handle).st_nlink:
            return path, handle
        os.close(handle)


def _remove_abandoned(parent: Path, prefix: str) -> None:
    for path in parent.glob(f"{prefix}*"):
        handle = _locked(path)
        if handle is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(handle)


def _locked(path: Path) -> int | None:
    """None for what is in use, somebody else's, no folder, or has just gone."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if os.fstat(handle).st_uid == os.geteuid():
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
    except OSError:
        pass
    os.close(handle)
    return None
