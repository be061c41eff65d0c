"""`file-watch`: files that appear, change and go in a folder."""

import asyncio
import os
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from penstock.connectors.source import Finding, Findings, Position, SourceFailed, SourceKind
from penstock.connectors.source_surroundings import SourceSurroundings
from penstock.kernel.errors import Invalid

_MOST_FILES = 50_000
_AT_ONCE = 200
_NANOSECONDS = 1_000_000_000

Version = tuple[int, int]
"""Modification time in nanoseconds, and size: what tells one content of a file from another."""


class Content(StrEnum):
    """How an event carries the content of its file."""

    NONE = "none"
    TEXT = "text"
    BASE64 = "base64"


class FileWatchSource(SourceKind, frozen=True):
    """Watches a folder: `penstock.file.created`, `penstock.file.changed`, `penstock.file.deleted`.

    It looks at each poll, so that it works on every file system; what comes and goes between two polls is not seen.
    Files that are there at the first poll make no events.
    """

    identifier = "file-watch"
    requires_polling = True
    stateful = True

    folder: Annotated[str, Meta(description="Absolute path of the folder.", min_length=1)]
    pattern: Annotated[
        str, Meta(description="Only files of such names, like `*.csv`; with `recursive` compared with the last part.")
    ] = "*"
    recursive: Annotated[bool, Meta(description="Also watches the folders inside it.")] = False
    settle_seconds: Annotated[
        float, Meta(ge=0, le=86_400, description="A file counts once it has not been written to for so long.")
    ] = 1.0
    content: Annotated[Content, Meta(description="Whether events carry the file's content, as text or in base64.")] = (
        Content.NONE
    )
    content_bytes: Annotated[int, Meta(ge=0, le=512 * 1024, description="Larger files come without their content.")] = (
        256 * 1024
    )

    def check(self) -> None:
        super().check()
        if not os.path.isabs(self.folder):
            raise Invalid.one("folder", "must be an absolute path")

    def origin(self) -> Sequence[Any]:
        return [self.folder, self.pattern, self.recursive]

    async def poll(self, position: Position, surroundings: SourceSurroundings) -> Findings:
        folder = surroundings.check_file(Path(self.folder))
        settled_before = surroundings.clock.now().timestamp() - self.settle_seconds
        known: dict[str, Version] | None = None
        if position is not None:
            known = {name: (version[0], version[1]) for name, version in position.items()}
        return await asyncio.to_thread(self._compare, folder, known, int(settled_before * _NANOSECONDS))

    def _compare(self, folder: Path, known: dict[str, Version] | None, settled_before: int) -> Findings:
        present = dict(self._scan(folder))
        if known is None:
            return Findings(position=present)
        found: list[Finding] = []
        after = dict(known)
        for act, name, version in _changes(known, present, settled_before):
            if len(found) == _AT_ONCE:
                return Findings(found=found, position=after, more=True)
            found.append(self._finding(folder, act, name, version))
            if act == "deleted":
                del after[name]
            else:
                after[name] = version
        return Findings(found=found, position=after)

    def _scan(self, folder: Path) -> Iterator[tuple[str, Version]]:
        """Names, relative to the folder, and versions of the files. Links are not followed."""
        count = 0
        for path, folders, names in os.walk(folder, onerror=_raise):
            if not self.recursive:
                folders.clear()
            for name in names:
                whole = os.path.join(path, name)
                if not fnmatch(name, self.pattern) or os.path.islink(whole):
                    continue
                try:
                    status = os.stat(whole)
                except FileNotFoundError:
                    continue  # it went while we looked
                count += 1
                if count > _MOST_FILES:
                    raise SourceFailed(f"more than {_MOST_FILES} files match in {folder}")
                yield os.path.relpath(whole, folder), (status.st_mtime_ns, status.st_size)

    def _finding(self, folder: Path, act: str, name: str, version: Version) -> Finding:
        modified = datetime.fromtimestamp(version[0] / _NANOSECONDS, UTC)
        data: dict[str, Any] = {"Folder": self.folder, "Name": name, "Size": version[1], "Modified": _text(modified)}
        if act != "deleted":
            data |= self._content(folder / name, version[1])
        return Finding(
            key=f"{act} {name} {version[0]} {version[1]}",
            type=f"penstock.file.{act}",
            subject=name,
            data=data,
            time=modified if act != "deleted" else None,
        )

    def _content(self, path: Path, size: int) -> Mapping[str, Any]:
        if self.content is Content.NONE or size > self.content_bytes:
            return {}
        try:
            content = path.read_bytes()[: self.content_bytes]
        except OSError:
            return {}  # gone again, or not ours to read: the event tells of the file all the same
        if self.content is Content.TEXT:
            return {"Text": content.decode(errors="replace")}
        return {"Base64": b64encode(content).decode()}


def _changes(
    known: Mapping[str, Version], present: Mapping[str, Version], settled_before: int
) -> Iterator[tuple[str, str, Version]]:
    for name in sorted(known.keys() - present.keys()):
        yield "deleted", name, known[name]
    for name, version in sorted(present.items(), key=lambda entry: (entry[1], entry[0])):
        if known.get(name) != version and version[0] <= settled_before:
            yield "changed" if name in known else "created", name, version


def _raise(error: OSError) -> None:
    raise SourceFailed(f"{error.filename}: {error.strerror}") from None


def _text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
