"""Files of flows, asked of the servers piece by piece: one alone may be larger than a message."""

from hashlib import sha256

from penstock.agent.uplink import Uplink
from penstock.kernel.errors import Unavailable
from penstock.protocol import subjects
from penstock.protocol.work import FileAnswer, FileQuery, FlowFile


class FlowFiles:
    """What is answered is taken only when it is what the flow's item names, by its hash."""

    def __init__(self, uplink: Uplink) -> None:
        self._uplink = uplink

    async def fetch(self, file: FlowFile) -> bytes:
        """Raises Unavailable when the servers are away or do not have it."""
        content = bytearray()
        number = 0
        while len(content) < file.size:
            query = FileQuery(sha256=file.sha256, number=number)
            piece = (await self._uplink.ask(subjects.FILES, query, FileAnswer)).content
            if not piece:
                break
            content += piece
            number += 1
        if sha256(content).hexdigest() != file.sha256:
            raise Unavailable(f"file '{file.name}' cannot be had from the servers now")
        return bytes(content)
