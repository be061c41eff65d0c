"""Agents, as other areas see them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from penstock.protocol.capability import AgentCapability


@dataclass(frozen=True)
class KnownAgent:
    """An agent as other areas see it.

    works: registered and not deprecated; online: pinged lately.
    since: when `capabilities` or `works` last changed. base_address: where its endpoints are reached.
    """

    id: UUID
    name: str
    capabilities: Sequence[AgentCapability]
    works: bool
    online: bool
    since: datetime
    base_address: str | None = None


class AgentDirectory(Protocol):
    """Provided by `agents`."""

    async def agents(self, fresh: bool = False) -> Sequence[KnownAgent]:
        """Every agent; answered from memory, at most a second old, or as stored now when `fresh`.

        The answer is the same object as long as no agent changed.
        """
        ...
