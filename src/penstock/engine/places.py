"""Which worker has which notebook, the same for all servers."""

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from penstock.bus.bus import Bus
from penstock.bus.keyvalue import Bucket, BucketSpec, Entry
from penstock.kernel.errors import Stale

_BUCKET = "engine-notebooks"
_REMEMBERED_SECONDS = 600.0
_MOST_REMEMBERED = 10_000


class Places:
    """A key of a bucket names the worker of each notebook. Keys go some time after their last use.

    choose: a worker that takes a new notebook. keep: how long; the entry of a notebook in use is renewed before.
    """

    def __init__(self, bus: Bus, choose: Callable[[], Awaitable[str]], keep: timedelta) -> None:
        self._bucket = Bucket(bus, BucketSpec(bucket=_BUCKET, max_age=keep))
        self._choose = choose
        self._keep = keep
        self._known: dict[str, tuple[str, float]] = {}
        self._made = False

    async def of(self, notebook: str) -> str:
        """The notebook's worker. Raises Unavailable."""
        known = self._known.get(notebook)
        if known is not None and time.monotonic() - known[1] < _REMEMBERED_SECONDS:
            return known[0]
        worker = await self._agreed(notebook)
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        self._known[notebook] = worker, time.monotonic()
        return worker

    async def forget(self, notebook: str) -> None:
        """The worker that it has does not answer: the next one to ask chooses another."""
        known = self._known.pop(notebook, None)
        entry = await self._bucket.get(_key(notebook))
        if entry is not None and known is not None and entry.value.decode() == known[0]:
            await self._write(notebook, entry, "")

    async def _agreed(self, notebook: str) -> str:
        if not self._made:
            await self._bucket.ensure()
            self._made = True
        while True:
            entry = await self._bucket.get(_key(notebook))
            worker = entry.value.decode() if entry is not None else ""
            if worker and entry is not None and not self._is_old(entry):
                return worker
            chosen = worker or await self._choose()
            if await self._write(notebook, entry, chosen):
                return chosen

    def _is_old(self, entry: Entry) -> bool:
        return datetime.now(UTC) - entry.time > self._keep / 4

    async def _write(self, notebook: str, entry: Entry | None, worker: str) -> bool:
        """Whether nobody else was quicker."""
        try:
            if entry is None:
                await self._bucket.create(_key(notebook), worker.encode())
            else:
                await self._bucket.update(_key(notebook), worker.encode(), entry.revision)
        except Stale:
            return False
        return True


def _key(notebook: str) -> str:
    return sha256(notebook.encode()).hexdigest()
