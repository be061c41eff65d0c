"""Message streams that entities own, one each."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog

from penstock.bus.bus import Bus
from penstock.bus.naming import stream_key
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.clock import Clock
from penstock.kernel.names import name_key
from penstock.protocol.subjects import stream_subject
from penstock.store.definition import Collection
from penstock.store.store import Store, decode

log = structlog.get_logger(__name__)

_KEEP = timedelta(days=30)
# Not in bytes: the bus would reserve them on the disk for every stream.
_MESSAGES = 100_000
# Long enough for a server that died to be started again, so that what it repeats is stored once.
_DUPLICATES = timedelta(minutes=10)


def subject_of(stream: str) -> str:
    """Where the messages of an owner's stream are published."""
    return stream_subject(stream_key(stream))


def history_stream(name: str, description: str) -> StreamSpec:
    """A stream that tells what its owner did lately."""
    return StreamSpec(
        name=name,
        subjects=[subject_of(name)],
        description=description,
        max_age=_KEEP,
        max_messages=_MESSAGES,
        duplicate_window=_DUPLICATES,
    )


class OwnedStreams:
    """Makes, removes and repairs the streams. An entity and its stream cannot be committed together.

    owners: their collection, which has a unique column `name`. spec_of: the stream of the owner of a name; its name is
    `prefix` and the owner's name.
    """

    def __init__(
        self,
        bus: Bus,
        store: Store,
        clock: Clock,
        *,
        owners: Collection[Any],
        prefix: str,
        spec_of: Callable[[str], StreamSpec],
        orphan_after: timedelta,
    ) -> None:
        self._streams = Streams(bus)
        self._store = store
        self._clock = clock
        self._owners = owners
        self._prefix = prefix
        self._spec_of = spec_of
        self._orphan_after = orphan_after

    async def ensure(self, owner: str) -> None:
        """Makes the owner's stream when there is none."""
        await self._streams.ensure(self._spec_of(owner))

    async def remove(self, owner: str) -> None:
        """Deletes the owner's stream with its messages."""
        await self._streams.delete(self._prefix + owner)

    async def repair(self) -> None:
        """Makes the streams that are missing and deletes those without an owner.

        One that is young may belong to an owner that is being made right now.
        """
        infos = await self._streams.list()
        found = {info.name: info.created_at for info in infos if info.name.startswith(self._prefix)}
        documents = await self._store.list(self._owners, limit=2**31 - 1)
        owners: list[str] = [decode(document.body, self._owners.type).name for document in documents]
        wanted = {self._prefix + owner: owner for owner in owners}
        for stream in wanted.keys() - found.keys():
            log.warning("stream was missing", stream=stream)
            await self.ensure(wanted[stream])
        keys = {name_key(stream) for stream in wanted}
        for stream, created in found.items():
            if name_key(stream) not in keys and self._clock.now() - created > self._orphan_after:
                await self._remove_orphan(stream)

    async def repair_every(self, pause: timedelta) -> None:
        """Repairs them now, and again and again; runs until cancelled."""
        while True:
            await self.repair()
            await self._clock.sleep_until(self._clock.now() + pause)

    async def _remove_orphan(self, stream: str) -> None:
        if await self._store.find(self._owners, "name", stream.removeprefix(self._prefix)) is None:
            log.info("stream without an owner is deleted", stream=stream)
            await self._streams.delete(stream)
