"""A stream as server-sent events."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import structlog

from penstock.areas.streams.wire_form import message_of
from penstock.bus.bus import Bus
from penstock.bus.follow import Feed, Start, follow
from penstock.bus.message import StoredMessage
from penstock.kernel.errors import PenstockError
from penstock.kernel.wire import encode

log = structlog.get_logger(__name__)

# So often a silent stream shows that the connection lives, and proxies do not cut it.
_SIGN_OF_LIFE_SECONDS = 15.0
_OPENING = b": following\nretry: 1000\n\n"
_SIGN_OF_LIFE = b":\n\n"


async def events(bus: Bus, stream: str, after: int, stopping: asyncio.Event) -> AsyncIterator[bytes]:
    """The messages after a sequence, each with its sequence as event id, until `stopping`.

    Ends as well when the stream is deleted or the bus stays away; a reader then comes back with its last id.
    """
    yield _OPENING
    stopped = asyncio.create_task(stopping.wait(), name=f"stop of following {stream}")
    try:
        async with follow(bus, stream, Start(after=after)) as feed:
            while not stopped.done():
                message = await _next(feed, stopped)
                if message is not None:
                    yield _event(message)
                elif not stopped.done():
                    yield _SIGN_OF_LIFE
    except PenstockError as error:
        log.info("stream is no longer followed", stream=stream, reason=error.detail)
    finally:
        stopped.cancel()


async def _next(feed: Feed, stopped: "asyncio.Task[bool]") -> StoredMessage | None:
    """The next message; None when none came for a while, or the server stops."""
    coming = asyncio.ensure_future(anext(feed))
    try:
        await asyncio.wait({coming, stopped}, timeout=_SIGN_OF_LIFE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        return coming.result() if coming.done() else None
    finally:
        if coming.cancel():
            with suppress(asyncio.CancelledError):
                await coming


def _event(message: StoredMessage) -> bytes:
    return b"id: %d\ndata: %s\n\n" % (message.sequence, encode(message_of(message)))
