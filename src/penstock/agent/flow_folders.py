"""Where the texts and files of flows lie on the agent: one folder for each version, whole or not there."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path

import msgspec

from penstock.kernel.names import name_key
from penstock.protocol.work import FlowFile, WorkItem

Fetch = Callable[[FlowFile], Awaitable[bytes]]
"""Answers a file's content. Raises Unavailable while the servers are away."""

TEXT = "flow.yaml"
_FILES = "files"


class FlowFolder(msgspec.Struct, frozen=True):
    """path: of the version. It belongs to the flow, which may write into `files`."""

    path: Path

    @property
    def text(self) -> Path:
        """The flow's text."""
        return self.path / TEXT

    @property
    def files(self) -> Path:
        """The folder with the files beside the flow, where it runs."""
        return self.path / _FILES


class FlowFolders:
    """root: for nothing else. fetch: where files come from that no version before had."""

    def __init__(self, root: Path, fetch: Fetch) -> None:
        self._root = root
        self._fetch = fetch

    async def lay_out(self, item: WorkItem) -> FlowFolder:
        """The item's folder, made when it is not there. Raises Unavailable when a file cannot be had, and OSError."""
        folder = self._folder(item)
        if await asyncio.to_thread(_is_whole, folder, item):
            return folder
        contents = [(file.name, await self._content(item, file)) for file in item.files]
        await asyncio.to_thread(_make, folder, item.spec, contents)
        return folder

    async def keep_only(self, item: WorkItem) -> None:
        """Removes what other versions of the flow left."""
        await asyncio.to_thread(_remove_others, self._folder(item).path)

    async def remove(self, flow: str) -> None:
        """Removes all that is there of the flow."""
        await asyncio.to_thread(shutil.rmtree, self._of(flow), ignore_errors=True)

    def _of(self, flow: str) -> Path:
        return self._root / name_key(flow)

    def _folder(self, item: WorkItem) -> FlowFolder:
        # By content too: a flow that was deleted and made anew counts its versions from 1 again.
        digest = sha256(item.spec.encode(errors="replace"))
        for file in item.files:
            digest.update(f"{file.name}\0{file.sha256}\n".encode())
        return FlowFolder(self._of(item.name) / f"{item.version}-{digest.hexdigest()[:16]}")

    async def _content(self, item: WorkItem, file: FlowFile) -> bytes:
        """From a version before, where it is the same; else from the servers."""
        found = await asyncio.to_thread(_found, self._of(item.name), file)
        return found if found is not None else await self._fetch(file)


def _is_whole(folder: FlowFolder, item: WorkItem) -> bool:
    text = folder.text
    if not text.is_file() or text.read_bytes() != item.spec.encode(errors="replace"):
        return False
    return all((folder.files / file.name).is_file() for file in item.files)


def _make(folder: FlowFolder, text: str, contents: list[tuple[str, bytes]]) -> None:
    folder.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder.path.parent, prefix=".new-", ignore_cleanup_errors=True) as temporary:
        new = FlowFolder(Path(temporary) / "version")
        new.files.mkdir(parents=True, mode=0o700)
        new.text.write_bytes(text.encode(errors="replace"))
        for name, content in contents:
            _write(new.files / name, content)
        shutil.rmtree(folder.path, ignore_errors=True)
        new.path.rename(folder.path)


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())  # a later start asks only whether it is there


def _found(versions: Path, file: FlowFile) -> bytes | None:
    for candidate in versions.glob(f"*/{_FILES}/*"):
        if candidate.name == file.name and candidate.is_file() and candidate.stat().st_size == file.size:
            content = candidate.read_bytes()
            if sha256(content).hexdigest() == file.sha256:
                return content
    return None


def _remove_others(folder: Path) -> None:
    if folder.parent.is_dir():
        for other in folder.parent.iterdir():
            if other != folder:
                shutil.rmtree(other, ignore_errors=True)
