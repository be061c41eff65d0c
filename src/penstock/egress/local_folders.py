"""The folders below which configurations may read and write files."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from penstock.kernel.errors import Forbidden

_REASON = "is in none of the folders that may be used here (see the setting PENSTOCK_AGENT_LOCAL_FOLDERS)"


class LocalFolders:
    """roots: absolute paths; a relative path is one below the first of them.

    Whoever may make links in a folder below a root could lead a path out of it between its check and its use; files
    themselves are therefore opened without following links.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = tuple(root.expanduser().absolute() for root in roots)

    def check(self, path: str | Path) -> Path:
        """The path without links. Raises Forbidden when it is below none of the folders."""
        if not self._roots or "\0" in str(path):
            raise Forbidden(f"{path} {_REASON}")
        resolved = (self._roots[0] / path).resolve()
        if any(resolved.is_relative_to(root.resolve()) for root in self._roots):
            return resolved
        raise Forbidden(f"{path} {_REASON}")

    def within(self, folder: Path, name: str) -> Path:
        """The path of a name inside a checked folder. Raises Forbidden when it leads out of the folder."""
        inside = Path(os.path.normpath(folder / name.lstrip("/")))
        if folder in inside.parents and self.check(inside.parent).is_relative_to(folder):
            return inside
        raise Forbidden(f"the file name '{name}' leads out of {folder}")


def open_file(path: Path, mode: str = "rb") -> IO[bytes]:
    """Opens a file in a binary mode. Raises OSError for a link."""
    return open(path, mode, opener=_opener)


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
