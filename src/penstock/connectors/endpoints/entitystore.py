"""`entitystore`: writes events to the entity store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from penstock.bus.keyvalue import Bucket, BucketSpec
from penstock.connectors.endpoint import Deliver, EndpointKind
from penstock.connectors.failure import DeliveryFailed, Undeliverable
from penstock.connectors.surroundings import Surroundings
from penstock.connectors.template import Fill, parsed
from penstock.kernel.errors import FieldError, Invalid, TooLarge, Unavailable
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.entity_key import BUCKET, HISTORY, entity_key


class EntityStoreEndpoint(EndpointKind, frozen=True):
    """Writes each event as the latest value of an entity; the values before are its history."""

    identifier = "entitystore"

    entity_type: Annotated[str, Meta(description="Type of the entity; a template over the event.")] = "${type}"
    entity_id: Annotated[str, Meta(description="Id of the entity; a template over the event.")] = "${subject}"
    value: Annotated[Any, Meta(description="What is stored; a template over the event.")] = "${data}"

    def check(self) -> None:
        errors = []
        for field, template in (("entityType", self.entity_type), ("entityId", self.entity_id), ("value", self.value)):
            try:
                parsed(template)
            except ValueError as error:
                errors.append(FieldError(field, str(error)))
        if errors:
            raise Invalid(errors)

    @asynccontextmanager
    async def open(self, surroundings: Surroundings) -> AsyncIterator[Deliver]:
        bucket = Bucket(surroundings.bus, BucketSpec(bucket=BUCKET, history=HISTORY))
        type_of, id_of, value_of = parsed(self.entity_type), parsed(self.entity_id), parsed(self.value)

        async def deliver(event: CloudEvent) -> None:
            document = event.value()
            try:
                key = entity_key(_text(type_of, document), _text(id_of, document))
                await bucket.put(key, _text(value_of, document).encode())
            except (Invalid, ValueError, TooLarge) as error:
                raise Undeliverable(f"the event makes no entity: {error}") from None
            except Unavailable as error:
                raise DeliveryFailed(error.detail) from None

        yield deliver


def _text(fill: Fill, document: Any) -> str:
    value = fill(document)
    return value if isinstance(value, str) else "" if value is None else msgspec.json.encode(value).decode()
