"""The contents of flows' files: each content is kept once, in pieces that fit into a message."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256

from penstock.areas.flows.model import IntegrationFlowFile
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Unavailable
from penstock.kernel.wire import Wire
from penstock.protocol.work import FlowFile
from penstock.store.definition import Journal
from penstock.store.store import Store, decode
from penstock.store.write import Append, Write

_PIECE = 512 * 1024


class ContentPiece(Wire):
    """A piece of a content. number: counts from 0; a content without bytes has one empty piece."""

    sha256: str
    number: int
    content: bytes
    at: datetime


FLOW_CONTENTS: Journal[ContentPiece] = Journal(
    "flow_contents",
    ContentPiece,
    at=lambda piece: piece.at,
    key=lambda piece: _key(piece.sha256, piece.number),
)


class FlowContents:
    """Nothing is removed: any version of a flow may be restored."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def plan_keep(self, files: Iterable[IntegrationFlowFile]) -> tuple[list[FlowFile], Sequence[Write]]:
        """What stands for the files, and the writes that keep their contents."""
        now = self._clock.now()
        kept: list[FlowFile] = []
        writes: list[Write] = []
        for file in files:
            content = (file.file_content or "").encode()
            digest = sha256(content).hexdigest()
            kept.append(FlowFile(name=file.file_name or "", sha256=digest, size=len(content)))
            starts = range(0, max(len(content), 1), _PIECE)
            pieces = [
                ContentPiece(sha256=digest, number=number, content=content[start : start + _PIECE], at=now)
                for number, start in enumerate(starts)
            ]
            writes.append(Append(FLOW_CONTENTS, pieces))
        return kept, writes

    async def piece(self, digest: str, number: int) -> bytes | None:
        """None when there is no such piece."""
        body = await self._store.entry(FLOW_CONTENTS, _key(digest, number))
        return decode(body, ContentPiece).content if body is not None else None

    async def files(self, kept: Iterable[FlowFile]) -> list[IntegrationFlowFile]:
        """The files with their contents. Raises Unavailable for one that is not there."""
        return [IntegrationFlowFile(file_name=file.name, file_content=await self._text(file)) for file in kept]

    async def _text(self, file: FlowFile) -> str:
        content = b""
        number = 0
        while number == 0 or len(content) < file.size:
            piece = await self.piece(file.sha256, number)
            if piece is None:
                raise Unavailable(f"the content of '{file.name}' is not in the database")
            content += piece
            number += 1
        return content.decode()


def _key(digest: str, number: int) -> str:
    return f"{digest}/{number}"
