"""What areas need of each other, as interfaces. The server fills each port with the area that provides it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, overload
from uuid import UUID

from penstock.kernel.actor import Actor
from penstock.protocol.capability import AgentCapability
from penstock.resource.kind import ConfigurationKind
from penstock.resource.operation import Operation
from penstock.store.write import Write


@dataclass(frozen=True)
class KnownAgent:
    """An agent as other areas see it.

    works: registered and not deprecated; online: pinged lately.
    since: when `capabilities` or `works` last changed.
    """

    id: UUID
    name: str
    capabilities: Sequence[AgentCapability]
    works: bool
    online: bool
    since: datetime


class AgentDirectory(Protocol):
    """Provided by `agents`."""

    async def agents(self, fresh: bool = False) -> Sequence[KnownAgent]:
        """Every agent; answered from memory, at most a second old, or as stored now when `fresh`."""
        ...


@dataclass(frozen=True)
class GeneratedFlow:
    """A flow that another resource makes. spec: Camel YAML DSL; requirements: (identifier, value) pairs."""

    name: str
    category: str
    spec: str
    requirements: Mapping[str, str]
    labels: Sequence[str] = ()


class GeneratedFlows(Protocol):
    """Provided by `flows`: flows that are made, changed and removed with the resource that generates them."""

    async def plan_put(self, flow: GeneratedFlow, actor: Actor) -> Sequence[Write]:
        """The writes that create the flow started, or change it; none when nothing differs.

        Raises Invalid when the spec is no flow.
        """
        ...

    async def plan_remove(self, name: str, actor: Actor) -> Sequence[Write]:
        """The writes that remove the flow; none when there is no such flow."""
        ...

    async def announce(self, name: str) -> None:
        """Tells the agents that the flow changed; call it after the commit."""
        ...


class Variables(Protocol):
    """Provided by `variables`."""

    async def values(self, names: Sequence[str]) -> Mapping[str, tuple[str, bool]]:
        """name -> (value, is_secret) of those that exist; names compared without case, keys as asked for."""
        ...


@dataclass(frozen=True)
class Rule:
    """A rule in force, for people to read."""

    topic: str
    text: str


class AccessRules(Protocol):
    """Provided by `identity`."""

    def rules(self) -> Sequence[Rule]:
        """What holds for passwords, tokens, keys and logins."""
        ...


class ConfigurationKinds(Mapping[str, ConfigurationKind[Any]]):
    """Provided by the server: every kind that the areas declare, by its name."""

    def __init__(self, kinds: Iterable[ConfigurationKind[Any]]) -> None:
        """Raises TypeError when two kinds have one name."""
        self._kinds: dict[str, ConfigurationKind[Any]] = {}
        for kind in kinds:
            if kind.kind in self._kinds:
                raise TypeError(f"the configuration kind {kind.kind} is declared twice")
            self._kinds[kind.kind] = kind

    def __getitem__(self, name: str) -> ConfigurationKind[Any]:
        return self._kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


class OperationCatalog(Sequence[Operation]):
    """Provided by the server: every operation of the API, complete once the server has started."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = operations

    @overload
    def __getitem__(self, index: int) -> Operation: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Operation]: ...
    def __getitem__(self, index: int | slice) -> Operation | Sequence[Operation]:
        return self._operations[index]

    def __len__(self) -> int:
        return len(self._operations)
