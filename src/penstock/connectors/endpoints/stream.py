"""`stream`: appends events to a message stream."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Annotated

from msgspec import Meta

from penstock.bus.naming import stream_key
from penstock.bus.streams import StreamSpec
from penstock.connectors.endpoint import Deliver, EndpointKind
from penstock.connectors.stream_writer import StreamWriter
from penstock.connectors.surroundings import Surroundings
from penstock.kernel.names import check_name
from penstock.protocol.subjects import stream_subject

PREFIX = "events-"


class StreamEndpoint(EndpointKind, frozen=True):
    """Appends each event to the message stream `events-<name>`, where `/eventing/streams` shows it.

    The stream is made when it is missing. Several channels may write to one stream.
    """

    identifier = "stream"

    name: Annotated[str, Meta(description="The stream's name without `events-`.", max_length=128 - len(PREFIX))]
    keep_days: Annotated[int, Meta(ge=1, le=3650, description="How long messages are kept.")] = 30
    keep_messages: Annotated[int, Meta(ge=1, le=10**9, description="How many messages are kept.")] = 1_000_000

    def check(self) -> None:
        check_name("name", self.name)

    @asynccontextmanager
    async def open(self, surroundings: Surroundings) -> AsyncIterator[Deliver]:
        stream = PREFIX + self.name
        spec = StreamSpec(
            name=stream,
            subjects=[stream_subject(stream_key(stream))],
            description="events that channels append",
            max_age=timedelta(days=self.keep_days),
            max_messages=self.keep_messages,
        )
        yield StreamWriter(surroundings.bus, spec).write
