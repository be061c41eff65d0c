"""JetStream streams: made and changed from a specification, listed, deleted."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

import msgspec

from penstock.bus.bus import Bus
from penstock.bus.message import time_of
from penstock.bus.naming import stream_key, stream_name
from penstock.kernel.errors import Invalid, NotFound


class StreamSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a stream should be. None is "no limit"; at a limit the oldest messages go.

    max_age, max_bytes, max_messages, max_per_subject: what is kept. duplicate_window: how long message
    ids are remembered. schedules: takes scheduled messages (see `due`). atomic: takes batches (see `batch`).
    replicas: servers of the cluster that keep a copy.
    """

    name: str
    subjects: Sequence[str]
    description: str = ""
    max_age: timedelta | None = None
    max_bytes: int | None = None
    max_messages: int | None = None
    max_per_subject: int | None = None
    max_message_bytes: int | None = None
    duplicate_window: timedelta = timedelta(minutes=2)
    work_queue: bool = False
    schedules: bool = False
    atomic: bool = False
    deny_delete: bool = False
    replicas: int = 1

    def configuration(self) -> dict[str, Any]:
        """The form of the JetStream API."""
        age = nanoseconds(self.max_age) if self.max_age is not None else 0
        window = nanoseconds(self.duplicate_window)
        return {
            "name": stream_key(self.name),
            "subjects": list(self.subjects),
            "description": self.description,
            "retention": "workqueue" if self.work_queue else "limits",
            "storage": "file",
            "num_replicas": self.replicas,
            "max_age": age,
            "max_bytes": _limit(self.max_bytes),
            "max_msgs": _limit(self.max_messages),
            "max_msgs_per_subject": _limit(self.max_per_subject),
            "max_msg_size": _limit(self.max_message_bytes),
            # The server refuses a window that is longer than messages live.
            "duplicate_window": min(window, age) if age else window,
            "discard": "old",
            "allow_direct": True,
            "allow_msg_schedules": self.schedules,
            "allow_msg_ttl": self.schedules,
            "allow_atomic": self.atomic,
            "deny_delete": self.deny_delete,
        }


class Specification(Protocol):
    """What `Streams.ensure` makes streams from."""

    @property
    def name(self) -> str: ...

    def configuration(self) -> dict[str, Any]:
        """The wanted fields, in the form of the JetStream API."""
        ...


class StreamState(msgspec.Struct, frozen=True):
    """first_seq and last_seq bound the sequences; fewer `messages` than they span means gaps.

    first_ts: when the first message was stored, as the server writes it; meaningless without messages.
    """

    messages: int = 0
    bytes: int = 0
    first_seq: int = 0
    last_seq: int = 0
    consumer_count: int = 0
    num_subjects: int = 0
    first_ts: str = ""


class StreamInfo(msgspec.Struct, frozen=True):
    """A stream as the server reports it."""

    config: dict[str, Any]
    created: str
    state: StreamState

    @property
    def name(self) -> str:
        return stream_name(self.config["name"])

    @property
    def messages(self) -> int:
        return self.state.messages

    @property
    def bytes(self) -> int:
        return self.state.bytes

    @property
    def consumers(self) -> int:
        return self.state.consumer_count

    @property
    def created_at(self) -> datetime:
        return time_of(self.created)

    @property
    def is_mirror(self) -> bool:
        return bool(self.config.get("mirror"))

    @property
    def replicas(self) -> int:
        return int(self.config.get("num_replicas", 1))

    @property
    def configuration(self) -> str:
        """The configuration as JSON."""
        return msgspec.json.encode(self.config).decode()


class _Page(msgspec.Struct):
    total: int
    streams: list[StreamInfo] | None = None


class _Done(msgspec.Struct):
    success: bool = False


class Streams:
    """The streams of the platform's account."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def ensure(self, spec: Specification) -> StreamInfo:
        """Makes the stream, or changes the one of that name; idempotent.

        Raises Invalid when the server refuses the specification, like a subject that another stream has.
        """
        wanted = spec.configuration()
        try:
            present = await self.info(spec.name)
        except NotFound:
            # Creating what another replica created meanwhile, with the same configuration, succeeds.
            return await self._bus.api(f"STREAM.CREATE.{stream_key(spec.name)}", wanted, StreamInfo)
        if all(present.config.get(field, type(value)()) == value for field, value in wanted.items()):
            return present
        return await self._bus.api(f"STREAM.UPDATE.{stream_key(spec.name)}", {**present.config, **wanted}, StreamInfo)

    async def info(self, name: str) -> StreamInfo:
        """Raises NotFound."""
        return await self._bus.api(f"STREAM.INFO.{stream_key(name)}", None, StreamInfo)

    async def delete(self, name: str) -> None:
        """Deletes the stream with its messages and consumers; nothing happens when it does not exist."""
        try:
            await self._bus.api(f"STREAM.DELETE.{stream_key(name)}", None, _Done)
        except NotFound:
            return

    async def purge(self, name: str, subject: str | None = None, *, up_to: int | None = None) -> None:
        """Deletes the messages, of one subject (wildcards allowed) or all, to the sequence `up_to` or to the end.

        Raises NotFound.
        """
        wanted: dict[str, Any] = {} if up_to is None else {"seq": up_to + 1}
        if subject is not None:
            wanted["filter"] = subject
        await self._bus.api(f"STREAM.PURGE.{stream_key(name)}", wanted or None, _Done)

    async def delete_message(self, name: str, sequence: int) -> None:
        """Deletes one message; nothing happens when it is not there. Raises NotFound without the stream."""
        try:
            await self._bus.api(f"STREAM.MSG.DELETE.{stream_key(name)}", {"seq": sequence, "no_erase": True}, _Done)
        except (NotFound, Invalid):
            await self.info(name)

    async def list(self) -> list[StreamInfo]:
        """Every stream, by name."""
        return sorted([info async for info in self._pages()], key=lambda info: info.name)

    async def _pages(self) -> AsyncIterator[StreamInfo]:
        offset = 0
        while True:
            page = await self._bus.api("STREAM.LIST", {"offset": offset}, _Page)
            for info in page.streams or ():
                yield info
            offset += len(page.streams or ())
            if not page.streams or offset >= page.total:
                return


def _limit(value: int | None) -> int:
    return -1 if value is None else value


def nanoseconds(value: timedelta) -> int:
    return value // timedelta(microseconds=1) * 1000
