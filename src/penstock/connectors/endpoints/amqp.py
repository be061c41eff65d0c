"""`amqp`: sends events to a queue over AMQP 1.0."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated

from msgspec import Meta

from penstock.connectors.amqp.address import AmqpAddress, parse_connection_string
from penstock.connectors.amqp.connection import AmqpConnection, AmqpFailed, AmqpRejected
from penstock.connectors.amqp.message import binary_mode, structured
from penstock.connectors.endpoint import Deliver, EndpointKind
from penstock.connectors.failure import DeliveryFailed, EventRefused
from penstock.connectors.kind import Secret
from penstock.connectors.surroundings import Surroundings
from penstock.egress.address_guard import AddressGuard, AddressRefused
from penstock.kernel.errors import FieldError, Invalid
from penstock.protocol.cloudevent import CloudEvent


class AmqpEndpoint(EndpointKind, frozen=True):
    """Sends each event to a queue of a message broker or cloud service bus over AMQP 1.0.

    An event is delivered when the broker has accepted it. `message-id` is the same in all tries of an event.
    """

    identifier = "amqp"

    connection_string: Annotated[
        Secret,
        Meta(
            description="`amqps://user:password@host`, or `Endpoint=sb://host/;SharedAccessKeyName=...;"
            "SharedAccessKey=...` as cloud service buses show it; `amqp://` is without TLS."
        ),
    ]
    queue: Annotated[
        str | None,
        Meta(description="The queue's address; can be left out when the connection string has an EntityPath."),
    ] = None
    binary: Annotated[bool, Meta(description="Attributes as properties, the data alone as message.")] = False
    timeout_seconds: Annotated[float, Meta(ge=0.05, le=600, description="How long one event may take.")] = 30.0

    def check(self) -> None:
        try:
            address = parse_connection_string(self.connection_string)
        except ValueError as error:
            raise Invalid([FieldError("connectionString", str(error))]) from None
        if not self.queue and not address.queue:
            raise Invalid.one("queue", "is required when the connection string has no EntityPath")

    def targets(self) -> Mapping[str, str]:
        return {"connectionString": parse_connection_string(self.connection_string).host}

    @asynccontextmanager
    async def open(self, surroundings: Surroundings) -> AsyncIterator[Deliver]:
        address = parse_connection_string(self.connection_string)
        sender = _Sender(address, self.queue or address.queue, surroundings.guard)
        form = binary_mode if self.binary else structured

        async def deliver(event: CloudEvent) -> None:
            try:
                async with asyncio.timeout(self.timeout_seconds):
                    await sender.send(form(event))
            except TimeoutError:
                raise DeliveryFailed(f"{address.host} did not take it within {self.timeout_seconds:g} s") from None
            except AddressRefused as error:
                raise DeliveryFailed(error.detail) from None
            except AmqpRejected as error:
                raise EventRefused(str(error)) from None
            except AmqpFailed as error:
                raise DeliveryFailed(str(error)) from None

        try:
            yield deliver
        finally:
            await sender.close()


class _Sender:
    """Keeps one connection, made when it is needed and made anew after it was lost."""

    def __init__(self, address: AmqpAddress, queue: str, guard: AddressGuard) -> None:
        self._address = address
        self._queue = queue
        self._guard = guard
        self._connecting = asyncio.Lock()
        self._connection: AmqpConnection | None = None

    async def send(self, message: bytes) -> None:
        async with self._connecting:
            if self._connection is None or self._connection.failure is not None:
                await self.close()
                self._connection = await AmqpConnection.open(self._address, self._queue, self._guard)
            connection = self._connection
        await connection.send(message)

    async def close(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()
