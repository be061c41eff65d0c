"""The streams that events pass through: all of them, then one for each channel."""

from penstock.protocol.subjects import stream_subject

EVENTS = "EVENTS"
"""Every accepted event in the order of acceptance, its body the CloudEvent in JSON."""
EVENT_SUBJECTS = "event.>"
EVENT_SUBJECT = "event.accepted"
CHANNELS = "Penstock-Channels"
"""Header of an accepted event: names of the channels that it goes to, separated by commas."""
ORIGIN = "Penstock-Event"
"""Header of an event in a channel's stream: its sequence in EVENTS."""
CHANNEL_PREFIX = "eventchannel-"
LONGEST_CHANNEL = 128 - len(CHANNEL_PREFIX)
"""Characters that a channel's name may have."""


def channel_stream(channel: str) -> str:
    """What a channel has to deliver."""
    return CHANNEL_PREFIX + channel


def dead_letter_stream(channel: str) -> str:
    """What a channel could not deliver."""
    return f"deadletter-{channel}"


def subject_of(stream_key: str) -> str:
    """Where messages of the stream of that NATS name are published (see bus.naming)."""
    return stream_subject(stream_key)
