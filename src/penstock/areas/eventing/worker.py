"""Work beside requests: events routed and written to the history, what is in memory and on the bus kept in step."""

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.history import EventHistory
from penstock.areas.eventing.policy import EventingPolicy
from penstock.areas.eventing.router import Router
from penstock.areas.eventing.routing_table import RoutingTable
from penstock.areas.eventing.stored import CHANNELS, DEFINITIONS, SUBSCRIPTIONS
from penstock.areas.eventing.streams import EventStreams
from penstock.bus.bus import Bus
from penstock.bus.single_reader import SingleReader
from penstock.kernel.clock import Clock
from penstock.protocol.event_streams import EVENTS
from penstock.resource.area import Worker
from penstock.resource.changes import Change, Changes

# Of the events of a moment each channel's copies are one write, and their history is one commit.
_ROUTING_PACE = 0.01
_HISTORY_PACE = 0.1


class EventRouting(Worker):
    """Routes accepted events, on one replica at a time."""

    def __init__(self, bus: Bus, streams: EventStreams, router: Router) -> None:
        self._bus = bus
        self._streams = streams
        self._router = router

    async def run(self) -> None:
        await self._streams.ensure_events()
        await SingleReader(self._bus, EVENTS, "event-router").run(self._router.route, pace=_ROUTING_PACE)


class HistoryWriting(Worker):
    """Writes accepted events to the history, on one replica at a time."""

    def __init__(self, bus: Bus, streams: EventStreams, history: EventHistory) -> None:
        self._bus = bus
        self._streams = streams
        self._history = history

    async def run(self) -> None:
        await self._streams.ensure_events()
        await SingleReader(self._bus, EVENTS, "event-history").run(self._history.take, pace=_HISTORY_PACE)


class TableRefresh(Worker):
    """Has the routing table notice what other replicas changed."""

    def __init__(self, changes: Changes, table: RoutingTable, clock: Clock, policy: EventingPolicy) -> None:
        self._changes = changes
        self._table = table
        self._clock = clock
        self._policy = policy

    async def run(self) -> None:
        names = (CHANNELS.name, SUBSCRIPTIONS.name, DEFINITIONS.name)
        following = [await self._changes.follow(name, self._changed) for name in names]
        try:
            while True:
                self._table.invalidate()  # a notice may have been lost
                await self._clock.sleep_until(self._clock.now() + self._policy.resync)
        finally:
            for subscription in following:
                await subscription.stop()

    async def _changed(self, change: Change) -> None:
        self._table.invalidate(change.collection)


class ChannelUpkeep(Worker):
    """Seals secrets anew after the master key was changed; brings streams and subscriptions in step with channels."""

    def __init__(self, clock: Clock, channels: ChannelService, streams: EventStreams, policy: EventingPolicy) -> None:
        self._clock = clock
        self._channels = channels
        self._streams = streams
        self._policy = policy

    async def run(self) -> None:
        await self._channels.renew_seals()
        while True:
            await self._streams.repair()
            await self._channels.drop_orphans()
            await self._clock.sleep_until(self._clock.now() + self._policy.repair)
