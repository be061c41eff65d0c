"""`nats`: publishes events on a subject of the bus."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from msgspec import Meta

from penstock.bus.session import SessionLost
from penstock.connectors.endpoint import Deliver, EndpointKind
from penstock.connectors.failure import DeliveryFailed, Undeliverable
from penstock.connectors.http_binding import binary, structured
from penstock.connectors.surroundings import Surroundings
from penstock.kernel.errors import Invalid, TooLarge, Unavailable
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.subjects import is_platforms_own

_SUBJECT = re.compile(r"[^\s.*>\x00-\x20\x7f]+(\.[^\s.*>\x00-\x20\x7f]+)*")


class NatsEndpoint(EndpointKind, frozen=True):
    """Publishes each event on a subject of the platform's bus, in a form of the CloudEvents NATS binding.

    Whoever listens at that time gets it; with `durable` a stream has to take it in, and has it once.
    """

    identifier = "nats"

    subject: Annotated[
        str, Meta(description="Subject without wildcards; not one of the platform's own.", max_length=500)
    ]
    binary: Annotated[bool, Meta(description="Attributes as headers, the data alone as message.")] = False
    durable: Annotated[bool, Meta(description="Waits until a stream that takes the subject has it on disk.")] = False

    def check(self) -> None:
        if not _SUBJECT.fullmatch(self.subject):
            raise Invalid.one("subject", "must be a NATS subject without wildcards, such as 'orders.created'")
        if is_platforms_own(self.subject):
            raise Invalid.one("subject", "is one of the platform's own")

    @asynccontextmanager
    async def open(self, surroundings: Surroundings) -> AsyncIterator[Deliver]:
        bus = surroundings.bus
        form = binary if self.binary else structured

        async def deliver(event: CloudEvent) -> None:
            headers, body = form(event)
            try:
                if self.durable:
                    await bus.publish(self.subject, body, headers=headers, message_id=event.key)
                else:
                    # The consumer's acknowledgement follows on the same connection, so it never overtakes the event.
                    await (await bus.session()).send(self.subject, body, headers)
            except (Unavailable, SessionLost):
                raise DeliveryFailed("the bus does not take the event") from None
            except TooLarge as error:
                raise Undeliverable(error.detail) from None

        yield deliver
