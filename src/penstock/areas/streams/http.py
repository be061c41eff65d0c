"""Operations on message streams."""

from typing import Annotated

import msgspec

from penstock.areas.streams.model import MessageFilter, StreamInfo, StreamMessage
from penstock.areas.streams.service import StreamService
from penstock.kernel.actor import Role
from penstock.kernel.errors import Invalid
from penstock.resource.answer import Encoded, EventStream
from penstock.resource.call import Call
from penstock.resource.operation import operation
from penstock.resource.parameter import Filter

Sequence = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1, extra_json_schema={"format": "int64"})]
_LAST_SEEN = "last-event-id"


class StreamOperations:
    """Streams are shown when they belong to something users made; the platform's own are not."""

    def __init__(self, service: StreamService) -> None:
        self._service = service

    @operation("GET", "/eventing/streams", Role.READER)
    async def streams(self) -> list[StreamInfo]:
        """List message streams by name."""
        return await self._service.all()

    @operation("GET", "/eventing/streams/{streamName}/messages", Role.READER)
    async def messages(self, stream_name: str, wanted: Filter[MessageFilter]) -> Encoded[list[StreamMessage]]:
        """Read messages of a stream, newest first."""
        return await self._service.messages(stream_name, wanted)

    @operation("GET", "/eventing/streams/{streamName}/follow", Role.READER, beyond=True)
    async def follow(self, stream_name: str, call: Call, after: Sequence | None = None) -> EventStream:
        """Follow a stream: each new message as a server-sent event whose id is its sequence.

        Begins with the next new message, or behind the sequence that the header Last-Event-ID or `after` names.
        Ends when the credential does; a reader comes back with a new one and its last id.
        """
        return await self._service.follow(stream_name, _last_seen(call) if _LAST_SEEN in call.headers else after)


def _last_seen(call: Call) -> int:
    text = call.headers[_LAST_SEEN]
    if not text.isascii() or not text.isdigit() or len(text) > len(str(2**63 - 1)):
        raise Invalid.one("Last-Event-ID", "must be the sequence of a message")
    return int(text)
