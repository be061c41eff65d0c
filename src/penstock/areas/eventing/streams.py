"""The streams that events pass through."""

from penstock.areas.eventing.policy import EventingPolicy
from penstock.areas.eventing.stored import CHANNELS
from penstock.bus.bus import Bus
from penstock.bus.naming import stream_key
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.clock import Clock
from penstock.protocol.event_streams import (
    CHANNEL_PREFIX,
    EVENT_SUBJECTS,
    EVENTS,
    channel_stream,
    dead_letter_stream,
    subject_of,
)
from penstock.resource.owned_streams import OwnedStreams
from penstock.store.store import Store


def channel_subject(channel: str) -> str:
    """Where the events of a channel are published."""
    return subject_of(stream_key(channel_stream(channel)))


class EventStreams(OwnedStreams):
    """The stream of all accepted events, and one for each channel, from which it is delivered.

    None is bounded by its size: an event that waits for delivery must not give way to newer ones.
    """

    def __init__(self, bus: Bus, store: Store, clock: Clock, policy: EventingPolicy) -> None:
        self._all = Streams(bus)
        self._keep = policy.keep
        super().__init__(
            bus,
            store,
            clock,
            owners=CHANNELS,
            prefix=CHANNEL_PREFIX,
            spec_of=self._spec,
            orphan_after=policy.orphan_after,
        )

    async def ensure_events(self) -> None:
        """Makes the stream of accepted events when there is none."""
        await self._all.ensure(
            StreamSpec(
                name=EVENTS,
                subjects=[EVENT_SUBJECTS],
                description="accepted events, each with the channels that it goes to",
                max_age=self._keep,
                atomic=True,
            )
        )

    async def remove(self, owner: str) -> None:
        """Deletes what the channel had to deliver, and what it could not deliver."""
        await super().remove(owner)
        await self._all.delete(dead_letter_stream(owner))

    def _spec(self, channel: str) -> StreamSpec:
        return StreamSpec(
            name=channel_stream(channel),
            subjects=[channel_subject(channel)],
            description=f"events for the channel {channel}",
            max_age=self._keep,
            atomic=True,
        )
