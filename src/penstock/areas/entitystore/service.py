"""What is done with entities: read, searched, written, erased."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

from penstock.areas.entitystore.model import (
    EntityStoreDto,
    EntityStoreInfo,
    EntityStoreSearchResults,
    KeyValuePairOfStringAndString,
)
from penstock.areas.entitystore.pattern import Pattern
from penstock.areas.entitystore.policy import EntityStorePolicy
from penstock.bus.bus import Bus
from penstock.bus.keyvalue import Bucket, BucketSpec, Entry
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.duration import Duration
from penstock.kernel.errors import Invalid, NotFound, Stale
from penstock.kernel.wire import encode
from penstock.protocol.entity_key import BUCKET, HISTORY, entity_key, entity_of
from penstock.resource.answer import Encoded
from penstock.resource.audit import audit
from penstock.store.store import Store

_PAGE = 200
_LARGEST_REVISION = 2**63 - 1


class EntityStore:
    """Entities in a key-value bucket of the bus. Channels write there too, by the endpoint `entitystore`."""

    def __init__(self, bus: Bus, store: Store, clock: Clock, policy: EntityStorePolicy) -> None:
        self._bucket = Bucket(
            bus, BucketSpec(bucket=BUCKET, history=HISTORY, max_age=policy.max_age, max_bytes=policy.max_bytes)
        )
        self._store = store
        self._clock = clock
        self._made = False

    async def make(self) -> None:
        """Makes the bucket when this has not been done yet."""
        if not self._made:
            await self._bucket.ensure()
            self._made = True

    async def read(self, type: str, id: str) -> Encoded[KeyValuePairOfStringAndString]:
        """The latest value; its revision is the ETag. Raises NotFound, Invalid."""
        await self.make()
        key = entity_key(type, id)
        return _pair(await self._entry(key))

    async def search(
        self, type: str, id: str, *, limit: int, since: datetime, history: bool
    ) -> EntityStoreSearchResults:
        """Values stored `since` or later, newest first; of each entity the latest, or all that are kept.

        type, id: may hold `*` for any characters.
        """
        await self.make()
        found: list[EntityStoreDto] = []
        async for value in self._values(Pattern(type), Pattern(id), since, history):
            if len(found) == limit:
                return EntityStoreSearchResults(data=found, limit_reached=True)
            found.append(value)
        return EntityStoreSearchResults(data=found, limit_reached=False)

    async def info(self) -> EntityStoreInfo:
        """The bucket as the bus reports it."""
        await self.make()
        info = await self._bucket.info()
        return EntityStoreInfo(
            entities_stored=info.state.num_subjects,
            entities_stored_including_history=info.messages,
            history_kept=info.config["max_msgs_per_subject"],
            size=info.bytes,
            max_size=info.config["max_bytes"],
            maximum_age=Duration.of(timedelta(microseconds=info.config.get("max_age", 0) // 1000)),
        )

    async def write(
        self, entity: EntityStoreDto, actor: Actor, if_match: str | None
    ) -> Encoded[KeyValuePairOfStringAndString]:
        """Stores a value; those before it become history. Raises Invalid, Stale, TooLarge."""
        await self.make()
        key = entity_key(entity.type or "", entity.id or "", ("Type", "Id"))
        if entity.data is None:
            raise Invalid.one("Data", "is required")
        value = entity.data.encode()
        if if_match is None:
            revision = await self._bucket.put(key, value)
        else:
            revision = await self._bucket.update(key, value, _revision(if_match))
        await self._record("updated", key, actor)
        return _encoded(key, value, revision)

    async def erase(self, type: str, id: str, actor: Actor, if_match: str | None) -> None:
        """Removes an entity with its history. Raises NotFound, Invalid, Stale."""
        await self.make()
        key = entity_key(type, id)
        await self._entry(key)
        await self._bucket.erase(key, None if if_match is None else _revision(if_match))
        await self._record("deleted", key, actor)

    async def _entry(self, key: str) -> Entry:
        entry = await self._bucket.get(key)
        if entry is None:
            raise NotFound.of("entity", key)
        return entry

    async def _values(
        self, type: Pattern, id: Pattern, since: datetime, history: bool
    ) -> AsyncIterator[EntityStoreDto]:
        seen: set[str | int] = set()
        async for entry in self._newest(f"{type.token}.{id.token}", since):
            # What is written meanwhile moves the pages: an entry may come twice.
            same = entry.revision if history else entry.key
            names = entity_of(entry.key)
            if same in seen or names is None or not type.matches(names[0]) or not id.matches(names[1]):
                continue
            seen.add(same)
            if not entry.deleted:
                yield EntityStoreDto(type=names[0], id=names[1], data=_text(entry.value), updated=entry.time)

    async def _newest(self, pattern: str, since: datetime) -> AsyncIterator[Entry]:
        skip = 0
        while page := await self._bucket.newest(pattern, since=since, skip=skip, count=_PAGE):
            for entry in page:
                yield entry
            skip += _PAGE

    async def _record(self, act: str, key: str, actor: Actor) -> None:
        # Without the value: it may hold what the readers of the audit log should not see.
        await self._store.commit([audit(act, BUCKET, key, actor=actor, at=self._clock.now(), subject=key)])


def _pair(entry: Entry) -> Encoded[KeyValuePairOfStringAndString]:
    return _encoded(entry.key, entry.value, entry.revision)


def _encoded(key: str, value: bytes, revision: int) -> Encoded[KeyValuePairOfStringAndString]:
    return Encoded(encode(KeyValuePairOfStringAndString(key=key, value=_text(value))), str(revision))


def _text(value: bytes) -> str:
    return value.decode(errors="replace")


def _revision(if_match: str) -> int:
    if not if_match.isascii() or not if_match.isdigit() or int(if_match[:20]) > _LARGEST_REVISION:
        raise Stale
    return int(if_match)
