"""Keeps the deliveries of all channels running."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import structlog

from penstock.areas.eventing.delivery.channel_delivery import ChannelDelivery, DeliveryParts
from penstock.areas.eventing.stored import CHANNELS, Channel
from penstock.connectors.reference import names_in
from penstock.resource.area import Worker
from penstock.resource.changes import Change, Changes
from penstock.resource.mirror import Mirror
from penstock.store.store import Store

log = structlog.get_logger(__name__)

_VARIABLES = "variables"
_RESYNC_SECONDS = 5.0
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


@dataclass
class _Running:
    channel: Channel
    delivery: ChannelDelivery
    task: asyncio.Task[None]

    def fits(self, channel: Channel) -> bool:
        """Whether it can go on with the channel as it is now, without being started anew."""
        return channel.name == self.channel.name and channel.options == self.channel.options


class DeliveryWorker(Worker):
    """Follows channels as they are made, changed, disabled and removed, on every replica: those share the work."""

    def __init__(self, store: Store, changes: Changes, parts: DeliveryParts) -> None:
        self._changes = changes
        self._parts = parts
        self._channels = Mirror(store, CHANNELS, lambda channel: channel)
        self._running: dict[UUID, _Running] = {}
        self._changed = asyncio.Event()
        self._variables_changed = False

    async def run(self) -> None:
        self._running = {}
        subscriptions = [
            await self._changes.follow(CHANNELS.name, self._hear_of_channels),
            await self._changes.follow(_VARIABLES, self._hear_of_variables),
        ]
        try:
            async with asyncio.TaskGroup() as group:
                while True:
                    self._changed.clear()
                    await self._sync(await self._channels.current(), group)
                    await self._wait()
        finally:
            for subscription in subscriptions:
                await subscription.stop()

    async def _hear_of_channels(self, _: Change) -> None:
        self._changed.set()

    async def _hear_of_variables(self, _: Change) -> None:
        self._variables_changed = True
        self._changed.set()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(_RESYNC_SECONDS):
                await self._changed.wait()
        except TimeoutError:
            return

    async def _sync(self, channels: Mapping[UUID, Channel], group: asyncio.TaskGroup) -> None:
        for id, running in list(self._running.items()):
            channel = channels.get(id)
            if channel is None or not channel.enabled or not running.fits(channel):
                del self._running[id]
                running.task.cancel()
                await asyncio.wait([running.task])
        refresh, self._variables_changed = self._variables_changed, False
        for id, channel in channels.items():
            if channel.enabled:
                self._keep(id, channel, group, refresh=refresh and bool(_variables(channel)))

    def _keep(self, id: UUID, channel: Channel, group: asyncio.TaskGroup, *, refresh: bool) -> None:
        running = self._running.get(id)
        if running is None:
            delivery = ChannelDelivery(channel, self._parts)
            task = group.create_task(_keep_running(channel.name, delivery), name=f"delivery {channel.name}")
            self._running[id] = _Running(channel, delivery, task)
        elif refresh or running.channel.e_tag != channel.e_tag:
            running.channel = channel
            running.delivery.change(channel)


def _variables(channel: Channel) -> set[str]:
    return names_in([part.json_configuration for part in (*channel.components, *channel.endpoints)])


async def _keep_running(name: str, delivery: ChannelDelivery) -> None:
    """One channel's trouble is not the others'."""
    pause = _FIRST_PAUSE
    while True:
        try:
            await delivery.run()
        except Exception:
            log.exception("delivery of a channel failed", channel=name, again_in_seconds=pause)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
