"""Streams and messages of the bus in the form of the HTTP API."""

from penstock.areas.streams import model
from penstock.bus.message import StoredMessage
from penstock.bus.streams import StreamInfo


def info_of(info: StreamInfo) -> model.StreamInfo:
    return model.StreamInfo(
        name=info.name,
        messages=info.messages,
        created=info.created_at,
        bytes=info.bytes,
        is_mirror=info.is_mirror,
        replicas=info.replicas,
        consumers=info.consumers,
        configuration=info.configuration,
    )


def message_of(message: StoredMessage) -> model.StreamMessage:
    return model.StreamMessage(
        subject=message.subject,
        data=message.data,
        timestamp=message.time,
        sequence=message.sequence,
        headers=dict(message.headers),
    )
