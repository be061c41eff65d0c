"""The folders of a kernel: its sockets and its working folder."""

import os
import shutil
from pathlib import Path

import msgspec

CONNECTION_FILE = "connection.json"


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
