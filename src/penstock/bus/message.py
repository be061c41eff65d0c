"""What goes over the bus and what comes back."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Self

import msgspec
from nats.aio.msg import Msg

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
    """A message that a consumer hands to its handler. tries: 1 on the first delivery."""

    tries: int

    @classmethod
    def of(cls, message: Msg) -> Self:
        about = message.metadata
        return cls(
            subject=message.subject,
            data=message.data,
            headers=message.headers or NO_HEADERS,
            time=about.timestamp,
            sequence=about.sequence.stream,
            tries=about.num_delivered,
        )


def time_of(text: str) -> datetime:
    """The server's RFC 3339 times carry nanoseconds, which Python cannot hold: cut to microseconds."""
    return msgspec.convert(text, datetime).astimezone(UTC)
