"""Which deprecated agents' ledgers the servers have closed: nothing more is taken into those."""

from collections.abc import Iterable
from uuid import UUID

from penstock.areas.schedules.ledger_entry import CLOSED_LEDGERS, ClosedLedger
from penstock.resource.ports.agents import AgentDirectory, KnownAgent
from penstock.store.store import Store
from penstock.store.write import Append


class ClosedLedgers:
    """One entry per agent and deprecation; an agent that works again has its ledger open again."""

    def __init__(self, store: Store, directory: AgentDirectory) -> None:
        self._store = store
        self._directory = directory
        self._known: set[str] = set()

    async def of(self, agents: Iterable[UUID]) -> set[UUID]:
        """Those of the agents whose ledger is closed."""
        wanted = set(agents)
        known = [agent for agent in await self._directory.agents(fresh=True) if agent.id in wanted]
        return {agent.id for agent in known if await self.is_closed(agent)}

    async def is_closed(self, agent: KnownAgent) -> bool:
        if agent.works:
            return False
        key = closing_of(agent).key
        if key not in self._known and await self._store.entry(CLOSED_LEDGERS, key) is not None:
            self._known.add(key)
        return key in self._known


def closing_of(agent: KnownAgent) -> ClosedLedger:
    """The entry that closes a deprecated agent's ledger."""
    return ClosedLedger(agent_id=agent.id, at=agent.since)


def plan_close(agent: KnownAgent) -> Append:
    return Append(CLOSED_LEDGERS, [closing_of(agent)])
