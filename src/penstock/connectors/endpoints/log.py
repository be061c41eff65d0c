"""`log`: writes events to the server's log."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Annotated

import structlog
from msgspec import Meta

from penstock.connectors.endpoint import Deliver, EndpointKind
from penstock.connectors.surroundings import Surroundings
from penstock.protocol.cloudevent import CloudEvent

log = structlog.get_logger(__name__)


class Severity(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogEndpoint(EndpointKind, frozen=True):
    """Writes each event to the log of the server: what it is, without its data unless asked for."""

    identifier = "log"

    level: Annotated[Severity, Meta(description="Severity of the lines.")] = Severity.INFO
    data: Annotated[bool, Meta(description="Also writes the event's data.")] = False

    @asynccontextmanager
    async def open(self, surroundings: Surroundings) -> AsyncIterator[Deliver]:
        async def deliver(event: CloudEvent) -> None:
            data = {"data": event.data} if self.data else {}
            log.log(
                _LEVELS[self.level],
                "event",
                channel=surroundings.channel,
                id=event.id,
                type=event.type,
                source=event.source,
                subject=event.subject,
                **data,
            )

        yield deliver


_LEVELS = {Severity.DEBUG: 10, Severity.INFO: 20, Severity.WARNING: 30, Severity.ERROR: 40}
