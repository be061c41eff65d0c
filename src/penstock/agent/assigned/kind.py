"""What the agent needs of a kind of work."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Protocol, Self
from uuid import UUID

from penstock.agent.access import Access
from penstock.agent.database import Database
from penstock.agent.outbox import Outbox
from penstock.agent.settings import AgentSettings
from penstock.agent.uplink import Uplink
from penstock.flow.http.http_server import HttpServer
from penstock.kernel.clock import Clock
from penstock.protocol.assignment import AssignmentItem


@dataclass(frozen=True)
class Surroundings:
    """The parts of the agent that kinds of work use.

    folder: the agent's own. environment: of the processes that they start; the mark that ends them with the agent is
    in it. server: what listens on the agent's own address.
    """

    settings: AgentSettings
    folder: Path
    environment: Mapping[str, str]
    database: Database
    outbox: Outbox
    uplink: Uplink
    access: Access
    clock: Clock
    server: HttpServer


class Keeper(Protocol):
    """Runs the items of one kind as they were last heard.

    Changes of one item come one at a time, those of different items side by side.
    """

    @property
    def known(self) -> Collection[UUID]:
        """The items that the agent has, those that wait for the servers included."""
        ...

    @property
    def stamps(self) -> Mapping[UUID, str]:
        """Of each item that is as its stamp says; for all others the servers are asked again."""
        ...

    async def resume(self) -> None:
        """Takes up the items of an earlier run. Those with secrets wait until the servers have told them again."""
        ...

    async def apply(self, item: AssignmentItem) -> None:
        """Makes the item what it says, and keeps it. Raises Invalid for one that this agent cannot read."""
        ...

    async def remove(self, key: UUID) -> None:
        """Ends the item, and forgets it."""
        ...


class AssignedKind(ABC):
    """One kind of work. Entered before it is followed; leaving it ends all that it runs.

    kind: its word in `protocol.subjects`.
    """

    kind: ClassVar[str]

    def __init__(self, surroundings: Surroundings) -> None:
        self._stack = AsyncExitStack()

    @property
    @abstractmethod
    def keeper(self) -> Keeper: ...

    async def __aenter__(self) -> Self:
        await self.open(self._stack)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    @abstractmethod
    async def open(self, stack: AsyncExitStack) -> None:
        """Enters into `stack` what is to end with the agent."""
