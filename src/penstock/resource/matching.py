"""Which agents match what work needs."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from penstock.kernel.errors import FieldError
from penstock.protocol.capability import AgentCapability, Requirement
from penstock.resource.ports.agents import AgentDirectory, KnownAgent

_MOST = 100
Needs = frozenset[tuple[str, str]]
"""Requirements to be compared: identifiers without case, values exactly."""


def needs_of(requirements: Iterable[Requirement]) -> Needs:
    return frozenset(((each.identifier or "").casefold(), each.value or "") for each in requirements)


def requirement_errors(requirements: Sequence[Requirement], field: str = "Requirements") -> list[FieldError]:
    """What is wrong with requirements as somebody gave them."""
    if len(requirements) > _MOST:
        return [FieldError(field, f"must be at most {_MOST}")]
    return [
        FieldError(f"{field}[{index}].Identifier", "is required")
        for index, each in enumerate(requirements)
        if not (each.identifier or "").strip()
    ]


def told(requirements: Sequence[Requirement]) -> str:
    """Requirements in words."""
    return ", ".join(f"{each.identifier}={each.value}" for each in requirements) or "any agent"


class Matcher:
    """Finds the agents that may have work; the same needs share one search.

    known: every agent, those that get no work included.
    """

    def __init__(self, agents: Sequence[KnownAgent]) -> None:
        self.known = agents
        self._offers = [(agent, _offer(agent.capabilities)) for agent in agents if agent.works]
        self._found: dict[Needs, Sequence[KnownAgent]] = {}

    def agents_for(self, needs: Needs) -> Sequence[KnownAgent]:
        """Those whose capabilities meet every need."""
        found = self._found.get(needs)
        if found is None:
            found = self._found[needs] = [agent for agent, offer in self._offers if needs <= offer]
        return found

    def alone(self, agent_id: UUID) -> "Matcher":
        """One that knows this agent only."""
        return Matcher([agent for agent in self.known if agent.id == agent_id])


class Matching:
    """The matcher over all agents, made anew when they change."""

    def __init__(self, directory: AgentDirectory) -> None:
        self._directory = directory
        self._matcher = Matcher(())

    async def matcher(self, fresh: bool = True) -> Matcher:
        """Over the agents as stored now, or at most a second ago."""
        agents = await self._directory.agents(fresh)
        if agents is not self._matcher.known:
            self._matcher = Matcher(agents)
        return self._matcher


def _offer(capabilities: Iterable[AgentCapability]) -> Needs:
    return frozenset(((each.identifier or "").casefold(), each.value or "") for each in capabilities)
