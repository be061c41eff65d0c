"""Files that runs made, kept for an hour."""

import re
import secrets
from datetime import timedelta

import msgspec

from penstock.bus.bus import Bus
from penstock.bus.message import Message
from penstock.bus.reader import StreamReader
from penstock.bus.streams import Streams, StreamSpec
from penstock.engine.message import Made
from penstock.kernel.actor import Actor, Role
from penstock.kernel.errors import NotFound
from penstock.resource.answer import File
from penstock.resource.operation import MIB
from penstock.resource.ports.runs import RunFile

_STREAM = StreamSpec(
    name="engine-files",
    subjects=["engine.file.*.*"],
    description="Files that runs of the interactive engine made",
    max_age=timedelta(hours=1),
    max_bytes=1024 * MIB,
    max_message_bytes=MIB,
)
_PIECE = 256 * 1024
_ID = re.compile(r"[0-9a-f]{32}")


class _Head(msgspec.Struct):
    name: str
    media_type: str
    owner: str | None
    pieces: int


class RunFiles:
    """A file is a message that describes it, followed by its pieces; the oldest go when there are too many."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._reader = StreamReader(bus)
        self._made = False

    async def keep(self, file: Made, owner: Actor | None = None) -> RunFile:
        """Returns once the file can be fetched: by its owner and Admins, or by all when it is of a run on record.

        Raises Unavailable.
        """
        shown = RunFile(file_name=file.name, media_type=file.media_type, size=file.size)
        if file.content is None:
            return shown
        if not self._made:
            await Streams(self._bus).ensure(_STREAM)
            self._made = True
        id, content = secrets.token_hex(16), file.content
        pieces = [content[start : start + _PIECE] for start in range(0, len(content), _PIECE)]
        head = _Head(file.name, file.media_type, owner.name if owner else None, len(pieces))
        bodies = [msgspec.json.encode(head), *pieces]
        messages = [Message(subject=_subject(id, str(number)), body=body) for number, body in enumerate(bodies)]
        await self._bus.publish_all(messages)
        return msgspec.structs.replace(shown, id=id)

    async def fetch(self, id: str, actor: Actor) -> File:
        """Raises NotFound, also for the files of others unless the caller is an Admin."""
        head = await self._head(id)
        if head is None or (head.owner not in (None, actor.name) and not actor.may(Role.ADMIN)):
            raise NotFound.of("file", id)
        found = await self._reader.newest(_STREAM.name, subject=_subject(id, "*"), count=head.pieces + 1)
        pieces = {int(message.subject.rsplit(".", 1)[1]): message.data for message in found}
        if len(pieces) != head.pieces + 1:
            raise NotFound.of("file", id)  # some of it is gone already
        content = b"".join(pieces[number] for number in range(1, head.pieces + 1))
        return File(content, head.media_type, head.name.rsplit("/", 1)[-1])

    async def _head(self, id: str) -> _Head | None:
        if not _ID.fullmatch(id):
            return None
        try:
            found = await self._reader.newest(_STREAM.name, subject=_subject(id, "0"), count=1)
        except NotFound:  # no run has made a file yet
            return None
        return msgspec.json.decode(found[0].data, type=_Head) if found else None


def _subject(id: str, number: str) -> str:
    return f"engine.file.{id}.{number}"
