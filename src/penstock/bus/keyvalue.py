"""Key-value buckets on JetStream, in the layout that NATS' own tools read."""

import base64
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import msgspec

from penstock.bus.bus import Bus
from penstock.bus.follow import Start, follow
from penstock.bus.message import StoredMessage, time_of
from penstock.bus.reader import StreamReader
from penstock.bus.streams import StreamInfo, Streams, nanoseconds
from penstock.kernel.errors import Invalid, NotFound, Stale

_BUCKET = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)
_KEY = re.compile(r"[-/_=A-Za-z0-9]+(\.[-/_=A-Za-z0-9]+)*", re.ASCII)
_OPERATION = "KV-Operation"
_EXPECTED = "Nats-Expected-Last-Subject-Sequence"
_MOST_HISTORY = 64


class BucketSpec(msgspec.Struct, frozen=True, kw_only=True):
    """history: values kept per key, 1 to 64. max_age: since the last write of a value."""

    bucket: str
    history: int = 1
    max_age: timedelta | None = None
    max_bytes: int | None = None
    replicas: int = 1

    @property
    def name(self) -> str:
        return f"KV_{self.bucket}"

    def configuration(self) -> dict[str, Any]:
        """The form of the JetStream API."""
        if not _BUCKET.fullmatch(self.bucket) or not 1 <= self.history <= _MOST_HISTORY:
            raise ValueError(f"not a bucket: {self}")
        return {
            "name": self.name,
            "subjects": [f"$KV.{self.bucket}.>"],
            "storage": "file",
            "num_replicas": self.replicas,
            "max_msgs_per_subject": self.history,
            "max_age": nanoseconds(self.max_age) if self.max_age is not None else 0,
            "max_bytes": -1 if self.max_bytes is None else self.max_bytes,
            "discard": "new",
            "allow_rollup_hdrs": True,
            "deny_delete": True,
            "allow_direct": True,
        }


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One value that a key had. revision: grows with every write to the bucket. A deletion has no value."""

    key: str
    value: bytes
    revision: int
    time: datetime
    deleted: bool = False


class _Stored(msgspec.Struct):
    subject: str
    seq: int
    time: str
    data: str = ""
    hdrs: str = ""


class _StoredAnswer(msgspec.Struct):
    message: _Stored


class Bucket:
    """Keys are tokens of A-Z a-z 0-9 - / _ = joined by dots; others are Invalid."""

    def __init__(self, bus: Bus, spec: BucketSpec) -> None:
        self._bus = bus
        self._spec = spec
        self._prefix = f"$KV.{spec.bucket}."

    async def ensure(self) -> StreamInfo:
        """Makes the bucket, or changes its limits; idempotent."""
        return await Streams(self._bus).ensure(self._spec)

    async def info(self) -> StreamInfo:
        return await Streams(self._bus).info(self._spec.name)

    async def get(self, key: str) -> Entry | None:
        """The latest value; None when there is none or it was deleted."""
        entry = await self._last(key)
        return None if entry is None or entry.deleted else entry

    async def put(self, key: str, value: bytes) -> int:
        """Returns the revision."""
        return await self._write(key, value, {})

    async def create(self, key: str, value: bytes) -> int:
        """Returns the revision. Raises Stale when the key has a value."""
        try:
            return await self.update(key, value, 0)
        except Stale:
            last = await self._last(key)
            if last is None or not last.deleted:
                raise
        return await self.update(key, value, last.revision)

    async def update(self, key: str, value: bytes, revision: int) -> int:
        """Returns the new revision. Raises Stale when `revision` is not the key's latest."""
        return await self._write(key, value, {_EXPECTED: str(revision)})

    async def delete(self, key: str, revision: int | None = None) -> int:
        """The history stays. Returns the revision of the deletion.

        Raises Stale when `revision` is given and not the key's latest.
        """
        expected = {} if revision is None else {_EXPECTED: str(revision)}
        return await self._write(key, b"", {_OPERATION: "DEL", **expected})

    async def erase(self, key: str, revision: int | None = None) -> None:
        """Deletes the key with its history; those who watch hear of it first. Raises Stale as `delete`."""
        deletion = await self.delete(key, revision)
        # Up to there only: somebody may have given the key a value again.
        await Streams(self._bus).purge(self._spec.name, self._subject(key), up_to=deletion)

    async def history(self, key: str) -> list[Entry]:
        """What is kept of the key, newest first, deletions included."""
        return await self.newest(_checked(key), count=_MOST_HISTORY)

    async def newest(
        self, pattern: str = ">", *, since: datetime | None = None, skip: int = 0, count: int = 100
    ) -> list[Entry]:
        """The newest values kept, deletions included, without the first `skip`; a page costs a few requests.

        pattern: as in `keys`. since: only values written then or later.
        """
        subject = self._prefix + pattern
        found = await StreamReader(self._bus).newest(
            self._spec.name, subject=subject, since=since, skip=skip, count=count
        )
        return [self._entry(message) for message in found]

    async def keys(self, pattern: str = ">") -> list[str]:
        """Keys that have a value, in order. pattern: tokens, `*` for any one, `>` for any rest."""
        return sorted([entry.key async for entry in self._current(pattern, headers_only=True)])

    async def entries(self, pattern: str = ">") -> list[Entry]:
        """The latest value of every key that has one, oldest write first."""
        return [entry async for entry in self._current(pattern, headers_only=False)]

    @asynccontextmanager
    async def watch(self, pattern: str = ">") -> AsyncIterator[AsyncIterator[Entry]]:
        """The latest value of every key, then each change, deletions included."""
        async with follow(self._bus, self._spec.name, Start(latest=True), subjects=[self._prefix + pattern]) as feed:
            yield (self._entry(message) async for message in feed)

    async def _current(self, pattern: str, *, headers_only: bool) -> AsyncIterator[Entry]:
        async with follow(
            self._bus,
            self._spec.name,
            Start(latest=True),
            subjects=[self._prefix + pattern],
            headers_only=headers_only,
        ) as feed:
            if feed.empty:
                return
            async for message in feed:
                entry = self._entry(message)
                if not entry.deleted:
                    yield entry
                if message.pending == 0:
                    return

    async def _last(self, key: str) -> Entry | None:
        # From the stream's leader: direct access may ask a replica that has not heard of the last write.
        request = {"last_by_subj": self._subject(key)}
        try:
            found = await self._bus.api(f"STREAM.MSG.GET.{self._spec.name}", request, _StoredAnswer)
        except NotFound:
            return None
        stored = found.message
        headers = base64.b64decode(stored.hdrs)
        return Entry(
            key=key,
            value=base64.b64decode(stored.data),
            revision=stored.seq,
            time=time_of(stored.time),
            deleted=b"\r\nKV-Operation:" in headers,
        )

    async def _write(self, key: str, value: bytes, headers: Mapping[str, str]) -> int:
        return (await self._bus.publish(self._subject(key), value, headers=headers)).sequence

    def _subject(self, key: str) -> str:
        return self._prefix + _checked(key)

    def _entry(self, message: StoredMessage) -> Entry:
        return Entry(
            key=message.subject[len(self._prefix) :],
            value=message.data,
            revision=message.sequence,
            time=message.time,
            deleted=_OPERATION in message.headers,
        )


def _checked(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise Invalid.one("key", "must be tokens of A-Z a-z 0-9 - / _ = joined by dots")
    return key
