"""What the platform and the process of a package say to each other: length-prefixed MessagePack over pipes."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from penstock.connectors.source import Findings

LARGEST = 64 * 1024 * 1024
_LENGTH = 4  # bytes before each message


class _Message(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """call: numbers the calls of the platform; every message belongs to one."""

    call: int


class Describe(_Message, frozen=True, kw_only=True):
    """Asks for the kinds of the package."""


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """One use of a kind. name: of the channel or event source. allow_private: see AddressGuard."""

    identifier: str
    version: str
    configuration: Mapping[str, Any]
    name: str
    allow_private: bool


class Poll(_Message, frozen=True, kw_only=True):
    """Asks a source what there is since `position`."""

    use: Use
    position: Any
    due: datetime


class Listen(_Message, frozen=True, kw_only=True):
    """Has a source listen until the call is cancelled; answered with Emitted each time, never Answered."""

    use: Use
    position: Any


class Apply(_Message, frozen=True, kw_only=True):
    """Has a component applied to an event (JSON format); answered with the event as it goes on, or None."""

    use: Use
    event: bytes


class Kept(_Message, frozen=True, kw_only=True):
    """What was emitted under the number is kept, or not: reason says why."""

    number: int
    reason: str | None = None


class Cancel(_Message, frozen=True, kw_only=True):
    """Nobody waits for the call any more."""


class Answered(_Message, frozen=True, kw_only=True):
    result: Any


class Emitted(_Message, frozen=True, kw_only=True):
    number: int
    findings: Findings


class Raised(_Message, frozen=True, kw_only=True):
    """The call failed. known: the error was meant for people, else only its type is told.

    permanent: trying again will not help.
    """

    detail: str
    known: bool
    retry_after: float | None = None
    permanent: bool = False


class DescribedKind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind as its package describes it. family: the value of a Family. schema: JSON Schema of the configuration."""

    family: str
    identifier: str
    version: str
    description: str
    schema: str
    requires_polling: bool = False
    stateful: bool = False
    shared: bool = False
    on_servers: bool = True


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """What a package brings. version: of the package. problems: entry points that cannot be used, and why."""

    version: str
    kinds: list[DescribedKind]
    problems: list[str]


ToHost = Describe | Poll | Listen | Apply | Kept | Cancel
FromHost = Answered | Emitted | Raised

_encoder = msgspec.msgpack.Encoder()


def framed(message: ToHost | FromHost) -> bytes:
    """The message as it goes into the pipe."""
    body = _encoder.encode(message)
    return len(body).to_bytes(_LENGTH) + body


async def read_frame(reader: asyncio.StreamReader) -> bytes | None:
    """The next message's body; None when the other side has ended. Raises ValueError for one that is too large."""
    try:
        size = int.from_bytes(await reader.readexactly(_LENGTH))
        if size > LARGEST:
            raise ValueError("the message is too large")
        return await reader.readexactly(size)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
