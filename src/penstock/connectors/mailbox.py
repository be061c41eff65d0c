"""The mailbox of a channel: a stream that the endpoint `mailbox` fills, and from which each reader has a queue."""

from datetime import timedelta

from penstock.bus.naming import stream_key
from penstock.bus.streams import StreamSpec
from penstock.protocol.subjects import stream_subject

PREFIX = "mailbox-"
KEEP = timedelta(days=30)
"""How long events wait for their readers, and queues for being asked."""
_MOST = 1_000_000


def mailbox_subject(channel: str) -> str:
    """Where events for the channel's mailbox are published, as CloudEvents in JSON."""
    return stream_subject(stream_key(PREFIX + channel))


def mailbox_stream(channel: str) -> StreamSpec:
    """The stream. Whoever fills or reads it makes it first, which does nothing when it is there."""
    return StreamSpec(
        name=PREFIX + channel,
        subjects=[mailbox_subject(channel)],
        description=f"the mailbox of the channel {channel}",
        max_age=KEEP,
        max_messages=_MOST,
    )
