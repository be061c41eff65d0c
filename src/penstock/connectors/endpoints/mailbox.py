"""`mailbox`: keeps events for users to fetch."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock.connectors.endpoint import Deliver, EndpointKind
from penstock.connectors.mailbox import mailbox_stream
from penstock.connectors.stream_writer import StreamWriter
from penstock.connectors.surroundings import Surroundings


class MailboxEndpoint(EndpointKind, frozen=True):
    """Puts each event into the channel's mailbox, from which every user has a queue (`GET /mailbox`)."""

    identifier = "mailbox"

    @asynccontextmanager
    async def open(self, surroundings: Surroundings) -> AsyncIterator[Deliver]:
        yield StreamWriter(surroundings.bus, mailbox_stream(surroundings.channel)).write
