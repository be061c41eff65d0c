"""Flows that other resources make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from penstock.kernel.actor import Actor
from penstock.protocol.report import IntegrationFlowStatusEnum
from penstock.store.write import Write


@dataclass(frozen=True)
class GeneratedFlow:
    """A flow that another resource makes.

    spec: Camel YAML DSL; requirements: (identifier, value) pairs.
    schedule, cron: of the Schedule that makes it, if one does; its due times are accounted for while it is
    nobody's work, see FlowGaps.
    started: whether it is to run; None leaves that as it is, and starts a new one.
    """

    name: str
    category: str
    spec: str
    requirements: Mapping[str, str]
    labels: Sequence[str] = ()
    schedule: str | None = None
    cron: str | None = None
    started: bool | None = None


@dataclass(frozen=True)
class GeneratedFlowState:
    """How a flow stands on an agent, as that last told. message: what is wrong."""

    status: IntegrationFlowStatusEnum
    at: datetime
    message: str | None


class GeneratedFlows(Protocol):
    """Provided by `flows`: flows that are made, changed and removed with the resource that generates them."""

    async def plan_put(self, flow: GeneratedFlow, actor: Actor) -> Sequence[Write]:
        """The writes that create the flow, or change it; none when nothing differs.

        Raises Invalid when the spec is no flow.
        """
        ...

    async def plan_remove(self, name: str, actor: Actor) -> Sequence[Write]:
        """The writes that remove the flow; none when there is no such flow."""
        ...

    async def announce(self, name: str) -> None:
        """Tells the agents that the flow changed; call it after the commit."""
        ...

    async def states(self, name: str) -> Mapping[UUID, GeneratedFlowState]:
        """What agents told of the flow, by their ids."""
        ...
