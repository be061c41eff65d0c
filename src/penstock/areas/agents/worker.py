"""Work beside requests: pings taken in, silent agents found."""

import asyncio
from datetime import timedelta
from uuid import UUID

import msgspec
import structlog

from penstock.areas.agents.policy import AgentPolicy
from penstock.areas.agents.presence import Presence
from penstock.areas.agents.roster import Roster
from penstock.bus.bus import Bus
from penstock.bus.message import Received
from penstock.kernel.clock import Clock
from penstock.protocol import subjects
from penstock.protocol.status import AgentStatusPing
from penstock.resource.area import Worker
from penstock.resource.repeated import Repeated
from penstock.store.store import decode

log = structlog.get_logger(__name__)

_AT_ONCE = 16


class PingListener(Worker):
    """Hears agents: all pings for when, its share of them for what they say."""

    def __init__(self, bus: Bus, roster: Roster, presence: Presence, clock: Clock) -> None:
        self._bus = bus
        self._roster = roster
        self._presence = presence
        self._clock = clock

    async def run(self) -> None:
        subject = subjects.ping("*")
        hearing = await self._bus.subscribe(subject, self._hear)
        taking = await self._bus.subscribe(subject, self._take, queue=subjects.SERVERS, concurrency=_AT_ONCE)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await taking.stop()
            await hearing.stop()

    async def _hear(self, received: Received) -> None:
        sender = _sender(received)
        if sender is not None:
            self._roster.hear(sender, self._clock.now())

    async def _take(self, received: Received) -> None:
        try:
            ping = decode(received.data, AgentStatusPing)
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            log.warning("unreadable ping", subject=received.subject, reason=str(error))
            return
        if ping.agent_id != _sender(received):
            log.warning("ping in another agent's name", subject=received.subject)
            return
        await self._presence.take(ping)


class PresenceSweep(Repeated):
    """Looks for silent agents twice per ping interval, on every replica."""

    def __init__(self, presence: Presence, clock: Clock, policy: AgentPolicy) -> None:
        super().__init__(clock, timedelta(seconds=policy.ping_seconds / 2), presence.sweep)


def _sender(received: Received) -> UUID | None:
    try:
        return subjects.agent_of(received.subject)
    except ValueError:
        return None
