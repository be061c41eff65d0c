"""Secrets that are stored beside documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
import structlog

from penstock.kernel.clock import Clock
from penstock.kernel.entity import Entity
from penstock.kernel.errors import NotFound, Stale
from penstock.resource.resource import expires_at
from penstock.resource.secrets import Secrets, SecretUnreadable
from penstock.store.body import decode
from penstock.store.definition import Collection
from penstock.store.store import Store
from penstock.store.write import Replace

log = structlog.get_logger(__name__)

_AT_ONCE = 1000


@dataclass(frozen=True)
class Renewal:
    """How many secrets were sealed anew, and how many nobody can read any more."""

    renewed: int = 0
    unreadable: int = 0


class Sealed:
    """What is sealed beside the documents of one collection, each bound to its document's id."""

    def __init__(self, collection: Collection[Any], store: Store, secrets: Secrets, clock: Clock) -> None:
        self._collection = collection
        self._store = store
        self._secrets = secrets
        self._clock = clock

    def seal(self, id: UUID, plain: str) -> bytes:
        """For `sealed` of the document's Insert or Replace."""
        return self._secrets.seal(plain.encode(), self._owner(id))

    async def open(self, id: UUID) -> str | None:
        """The secret of a live document, None when it has none. Raises SecretUnreadable."""
        sealed = await self._store.sealed(self._collection, id)
        return self._secrets.open(sealed, self._owner(id)).decode() if sealed else None

    async def open_all(self, ids: Sequence[UUID]) -> Mapping[UUID, str]:
        """The secrets of live documents, of those that have one. One that cannot be read is logged and left out."""
        found: dict[UUID, str] = {}
        for start in range(0, len(ids), _AT_ONCE):
            sealed = await self._store.all_sealed(self._collection, ids[start : start + _AT_ONCE])
            for id, each in sealed.items():
                try:
                    found[id] = self._secrets.open(each, self._owner(id)).decode()
                except SecretUnreadable as error:
                    log.error("secret cannot be read", reason=error.detail)
        return found

    async def renew(self) -> Renewal:
        """Seals what earlier master keys sealed under the current one. May be repeated, on several replicas at once."""
        if not self._secrets.rotated:
            return Renewal()
        renewed = unreadable = 0
        for (id,) in await self._store.values(self._collection, ["id"]):
            try:
                renewed += await self._renew(UUID(str(id)))
            except SecretUnreadable as error:
                unreadable += 1
                log.error("secret cannot be read", reason=error.detail)
        if renewed or unreadable:
            log.info("secrets sealed anew", collection=self._collection.name, count=renewed, unreadable=unreadable)
        return Renewal(renewed, unreadable)

    async def _renew(self, id: UUID) -> bool:
        while True:
            document = await self._store.get(self._collection, id)
            sealed = await self._store.sealed(self._collection, id)
            if document is None or not sealed or self._secrets.is_current(sealed):
                return False
            body = decode(document.body, self._collection.type)
            anew = self._secrets.reseal(sealed, self._owner(id))
            # The same ETag: what readers see does not change.
            replace = Replace(
                self._collection, id, document.e_tag, body, self._clock.now(), document.e_tag, _expires(body), anew
            )
            try:
                await self._store.commit([replace])
            except (Stale, NotFound):
                continue  # changed meanwhile: look again
            return True

    def _owner(self, id: UUID) -> str:
        return f"{self._collection.name}/{id}"


def _expires(body: msgspec.Struct) -> datetime | None:
    if isinstance(body, Entity) and body.update_date is not None:
        return expires_at(body, body.update_date)
    return None
