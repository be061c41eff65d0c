"""The folder of one agent: what it must not lose, and nobody else may read."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from penstock.kernel.errors import PenstockError, UnusableFile


class FolderInUse(PenstockError):
    """Another agent runs in the folder."""

    code = "folder-in-use"
    title = "Another agent uses the folder"


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Within it, a disk that does not do its part is an UnusableFile that says what to do."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        advice = "it must be writable and have room; PENSTOCK_AGENT_FOLDER names another"
        raise UnusableFile(f"The agent's folder {folder} cannot be used: {reason}; {advice}") from error


class AgentFolder:
    """Held by one process from `open` to `close`; the kernel frees it when the process dies."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._lock: IO[bytes] | None = None

    def open(self) -> None:
        """Makes the folder when it is not there. Raises FolderInUse, UnusableFile."""
        with _explained(self.path):
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.chmod(0o700)
            lock = (self.path / "lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise FolderInUse(f"Another agent uses the folder {self.path}") from None
        self._lock = lock

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def read(self, name: str) -> bytes | None:
        """The content of a file; None when there is none. Raises UnusableFile."""
        try:
            with _explained(self.path):
                return (self.path / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Replaces a file, readable by the owner only. After a power loss there is the old content or the new.

        Raises UnusableFile.
        """
        with _explained(self.path):
            self._write(name, content)

    def _write(self, name: str, content: bytes) -> None:
        handle, temporary = tempfile.mkstemp(dir=self.path, prefix=f".{name}.")  # mkstemp makes it 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path / name)
        except BaseException:
            os.unlink(temporary)
            raise
        self._sync()

    def _sync(self) -> None:
        """The new name reaches the disk with the folder."""
        handle = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
