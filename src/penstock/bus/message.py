"""What goes over the bus and what comes back."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Self

import msgspec
from nats.aio.msg import Msg

_SHORT_FORM = 9  # $JS.ACK.<stream>.<consumer>.<5 numbers>; the long form also has domain and account
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_HEADERS: Mapping[str, str] = {}


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A message to be stored.

    message_id: publishing the same id again within the stream's duplicate window stores nothing;
    None makes a new id.
    """

    subject: str
    body: bytes
    headers: Mapping[str, str] | None = None
    message_id: str | None = None


class Ack(msgspec.Struct, frozen=True):
    """Where a message is stored. duplicate: it was there already, under its message id."""

    stream: str
    sequence: int
    duplicate: bool = False


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """A message as it arrived; `reply` is empty unless an answer is expected."""

    subject: str
    data: bytes
    headers: Mapping[str, str] = NO_HEADERS
    reply: str = ""

    @classmethod
    def of(cls, message: Msg) -> Self:
        return cls(
            subject=message.subject,
            data=message.data,
            headers=message.headers or NO_HEADERS,
            reply=message.reply,
        )


class Answer(msgspec.Struct, frozen=True):
    """What a responder sends back when bytes alone do not do."""

    body: bytes
    headers: Mapping[str, str] = NO_HEADERS


class StoredMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a stream."""

    subject: str
    data: bytes
    headers: Mapping[str, str]
    time: datetime
    sequence: int


class Delivered(StoredMessage, frozen=True, kw_only=True):
    """A message that a consumer hands out.

    tries: 1 on the first delivery. pending: how many messages wait behind this one.
    """

    tries: int
    pending: int

    @classmethod
    def of(cls, message: Msg) -> Self:
        """Reads the place in the stream from the acknowledgement subject (NATS ADR-15)."""
        tokens = message.reply.split(".")
        first = 4 if len(tokens) == _SHORT_FORM else 6
        tries, sequence, _, nanoseconds, pending = map(int, tokens[first : first + 5])
        return cls(
            subject=message.subject,
            data=message.data,
            headers=message.headers or NO_HEADERS,
            time=_EPOCH + timedelta(microseconds=nanoseconds // 1000),
            sequence=sequence,
            tries=tries,
            pending=pending,
        )


def time_of(text: str) -> datetime:
    """A time of the server. Its nanoseconds are cut, not rounded: a message must not seem newer than it is."""
    seconds, _, fraction = text.removesuffix("Z").partition(".")
    return msgspec.convert(f"{seconds}.{fraction[:6] or '0'}Z", datetime).astimezone(UTC)
