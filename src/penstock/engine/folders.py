"""The folders of kernels: for sockets, and to work in."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from penstock.kernel.errors import Unavailable
from penstock.kernel.run_folder import RunFolder

CONNECTION_FILE = "connection.json"
_PREFIX = "penstock-kernels-"
_LONGEST_PARENT = 48  # the path of a socket has to fit into 107 bytes


class KernelFolders(msgspec.Struct, frozen=True):
    """sockets, work: as the engine sees them. uid: whose they are. inside: whether the kernel has a view of its own."""

    sockets: Path
    work: Path
    uid: int
    inside: bool

    @property
    def seen_sockets(self) -> Path:
        """The folder of sockets as the kernel sees it."""
        return Path("/run/kernel") if self.inside else self.sockets

    @property
    def seen_work(self) -> Path:
        """The working folder as the kernel sees it."""
        return Path("/run/work") if self.inside else self.work


def make_folders(parent: Path, name: str, uid: int, *, inside: bool) -> KernelFolders:
    """New folders that only the kernel's user and the engine can look into."""
    folder = parent / name
    folder.mkdir(mode=0o711)
    made = KernelFolders(folder / "s", folder / "w", uid, inside)
    for each in (made.sockets, made.work):
        each.mkdir(mode=0o700)
        if uid:
            os.chown(each, uid, uid)
    return made


def remove_folders(folders: KernelFolders) -> None:
    """Whatever the kernel left there. Links are removed, not followed."""
    shutil.rmtree(folders.work.parent, ignore_errors=True)


@contextmanager
def runtime_folder() -> Iterator[Path]:
    """A folder for kernels' folders, gone in the end; those of engines that were killed go now. Raises Unavailable."""
    with RunFolder(_parent(), _PREFIX) as folder:
        folder.path.chmod(0o711)  # each kernel's user passes through
        yield folder.path


def _parent() -> Path:
    for path in (os.environ.get("XDG_RUNTIME_DIR"), os.environ.get("TMPDIR"), "/tmp"):  # noqa: S108 - only we look in
        if path and len(path) <= _LONGEST_PARENT and os.access(path, os.W_OK):
            return Path(path)
    raise Unavailable("there is no folder for kernels: set TMPDIR to one with a short path")
