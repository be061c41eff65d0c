"""Files as the `file` component reads and writes them. Every function blocks: threads call them."""

import os
import stat
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from penstock.egress.local_folders import open_file
from penstock.flow.failures.errors import FlowError
from penstock.flow.files.file_filter import FileFilter

_MOST_FILES = 50_000


class FileOperationFailed(FlowError):
    """A file cannot be read, written, moved or removed."""

    code = "file-operation-failed"
    title = "The file operation failed"
    java = (
        "org.apache.camel.component.file.GenericFileOperationFailedException",
        "org.apache.camel.RuntimeCamelException",
        "java.lang.RuntimeException",
    )


class FileExist(StrEnum):
    """What happens when the file to write is there already."""

    OVERRIDE = "Override"
    APPEND = "Append"
    FAIL = "Fail"
    IGNORE = "Ignore"


class FoundFile(NamedTuple):
    """name: relative to the starting folder, with `/`. modified: nanoseconds since 1970."""

    path: Path
    name: str
    size: int
    modified: int

    def is_unchanged(self) -> bool:
        """Whether the file is as it was found."""
        try:
            status = self.path.lstat()
        except OSError:
            return False
        return (status.st_size, status.st_mtime_ns) == (self.size, self.modified)


def find(folder: Path, deepest: int, wanted: FileFilter) -> list[FoundFile]:
    """The files that are wanted. deepest: 1 for the folder alone. Links are not followed."""
    return list(_walk(folder, "", deepest, wanted))


def _walk(folder: Path, prefix: str, deepest: int, wanted: FileFilter) -> Iterator[FoundFile]:
    with os.scandir(folder) as entries:
        for count, entry in enumerate(entries):
            if count >= _MOST_FILES:
                raise FileOperationFailed(f"more than {_MOST_FILES} files are in {folder}")
            name = f"{prefix}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if deepest > 1 and not entry.name.startswith("."):
                    yield from _walk(folder / entry.name, f"{name}/", deepest - 1, wanted)
            elif entry.is_file(follow_symlinks=False) and wanted.takes(name):
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # it went while we looked
                yield FoundFile(folder / entry.name, name, status.st_size, status.st_mtime_ns)


def read(path: Path, most: int) -> bytes:
    """Raises FileOperationFailed for a link, and for a file with more than `most` bytes."""
    try:
        with open_file(path) as file:
            content = file.read(most + 1)
    except OSError as error:
        raise _failed("read", path, error) from None
    if len(content) > most:
        raise FileOperationFailed(f"{path} has more than {most} bytes")
    return content


def write(path: Path, content: bytes, exist: FileExist, temporary: Path | None, make_folders: bool) -> None:
    """Writes the file to disk. temporary: written first and renamed. Raises FileOperationFailed."""
    try:
        if make_folders:
            path.parent.mkdir(parents=True, exist_ok=True)
        there = os.path.lexists(path)
        if there and not stat.S_ISREG(path.lstat().st_mode):
            raise FileOperationFailed(f"Cannot write file: {path}: it is not a plain file")
        if there and exist is FileExist.FAIL:
            raise FileOperationFailed(f"File already exist: {path}. Cannot write new file.")
        if there and exist is FileExist.IGNORE:
            return
        if exist is FileExist.APPEND:
            _put(path, content, "ab")
            return
        if temporary is None:
            _put(path, content, "xb" if exist is FileExist.FAIL else "wb")
            return
        temporary.unlink(missing_ok=True)
        _put(temporary, content, "xb")
        temporary.rename(path)
    except OSError as error:
        raise _failed("write", path, error) from None


def move(source: Path, target: Path) -> None:
    """Moves the file, replacing what is there, and makes the folder. Raises FileOperationFailed."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        source.rename(target)
    except OSError as error:
        raise _failed("move", source, error) from None


def remove(path: Path) -> None:
    """Raises FileOperationFailed."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _failed("delete", path, error) from None


def _put(path: Path, content: bytes, mode: str) -> None:
    with open_file(path, mode) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _failed(act: str, path: Path, error: OSError) -> FileOperationFailed:
    return FileOperationFailed(f"Cannot {act} file: {path}: {error.strerror or error}")
