"""The progress of a file transfer as server-sent events."""

import asyncio
from collections.abc import AsyncIterator

from penstock.areas.transfers.overview import TransferOverview
from penstock.kernel.errors import NotFound
from penstock.kernel.wire import encode
from penstock.resource.answer import EventStream

_LOOK_SECONDS = 0.5
_ALIVE_LOOKS = 30


class ProgressStream:
    """Looks twice a second; agents report once a second."""

    def __init__(self, overview: TransferOverview) -> None:
        self._overview = overview

    async def follow(self, name: str) -> EventStream:
        """Raises NotFound."""
        await self._overview.progress_of(name)
        return EventStream(self._events(name))

    async def _events(self, name: str) -> AsyncIterator[bytes]:
        before = b""
        quiet = 0
        while True:
            try:
                now = encode(await self._overview.progress_of(name))
            except NotFound:
                return  # it was deleted
            if now != before:
                before, quiet = now, 0
                yield b"event: progress\ndata: " + now + b"\n\n"
            elif quiet >= _ALIVE_LOOKS:
                quiet = 0
                yield b": still here\n\n"
            quiet += 1
            await asyncio.sleep(_LOOK_SECONDS)
