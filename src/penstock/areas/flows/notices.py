"""Tells agents that their work changed: many changes in a short time make one notice per agent."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from penstock.areas.flows.model import FLOWS
from penstock.bus.bus import Bus
from penstock.protocol import subjects
from penstock.resource.changes import Changes
from penstock.resource.matching import Matching, Needs

_GATHER_SECONDS = 0.02
_MOST_NAMES = 500


class AgentNotices:
    """Notices may be lost, with the process or the bus: agents also resync by themselves."""

    def __init__(self, bus: Bus, changes: Changes, matching: Matching) -> None:
        self._bus = bus
        self._changes = changes
        self._matching = matching
        self._waiting: defaultdict[str, set[Needs]] = defaultdict(set)
        self._came = asyncio.Event()

    def note(self, flow: str, needs: Iterable[Needs]) -> None:
        """The flow changed for the agents that meet any of `needs`, as they were before and as they are now."""
        self._waiting[flow].update(needs)
        self._came.set()

    async def tell_all(self, agent: UUID) -> None:
        """All work of the agent may have changed."""
        await self._bus.notify(subjects.changed(agent))

    async def send(self) -> None:
        """Sends what is noted, until cancelled."""
        while True:
            await self._came.wait()
            await asyncio.sleep(_GATHER_SECONDS)
            self._came.clear()
            waiting, self._waiting = self._waiting, defaultdict(set)
            await self._send(waiting)

    async def _send(self, waiting: dict[str, set[Needs]]) -> None:
        flows_of: defaultdict[Needs, list[str]] = defaultdict(list)
        for flow, several in waiting.items():
            for needs in several:
                flows_of[needs].append(flow)
        matcher = await self._matching.matcher()
        told: defaultdict[UUID, set[str]] = defaultdict(set)
        for needs, flows in flows_of.items():
            for agent in matcher.agents_for(needs):
                told[agent.id].update(flows)
        for agent_id, names in told.items():
            body = "\n".join(sorted(names)) if len(names) <= _MOST_NAMES else ""
            await self._bus.notify(subjects.changed(agent_id), body.encode())
        await self._changes.tell(FLOWS.name, *(waiting if len(waiting) <= _MOST_NAMES else ()))
