"""What flows on agents count and log, as of each agent's latest sign of life. Held in memory by every replica."""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from penstock.kernel.names import name_key
from penstock.protocol.status import IntegrationStatus

_MOST = 20_000


class FlowVitals:
    """A replica that has just started knows what it has heard since."""

    def __init__(self) -> None:
        self._of_agents: defaultdict[UUID, dict[str, IntegrationStatus]] = defaultdict(dict)

    def hear(self, agent: UUID, flows: Iterable[IntegrationStatus]) -> None:
        """Takes what an agent told; the flows longest unheard of are forgotten when they are too many."""
        known = self._of_agents[agent]
        for flow in flows:
            key = name_key(flow.integration_name or "")
            known.pop(key, None)
            known[key] = flow
        while len(known) > _MOST:
            del known[next(iter(known))]

    def of(self, agent: UUID, flow: str) -> IntegrationStatus | None:
        """None while the agent has told nothing of the flow."""
        return self._of_agents[agent].get(name_key(flow)) if agent in self._of_agents else None
