"""How a flow stands on all agents together, in counts and words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from penstock.areas.flows.catalog import FlowEntry
from penstock.areas.flows.model import IntegrationFlowDto
from penstock.protocol.report import IntegrationFlowStatusEnum as Status
from penstock.resource.ports.agents import KnownAgent


class Told(Protocol):
    """What an agent told of a flow."""

    @property
    def status(self) -> Status: ...

    @property
    def message(self) -> str | None: ...


def status_on(agent: KnownAgent, reported: Mapping[UUID, Told]) -> Status:
    """The status on one agent: Unknown while it is offline or has not reported."""
    told = reported.get(agent.id)
    return told.status if told is not None and agent.online else Status.UNKNOWN


def summarised(flow: FlowEntry, agents: Sequence[KnownAgent], reported: Mapping[UUID, Told]) -> IntegrationFlowDto:
    """agents: those that the flow matches."""
    counts = Counter(status_on(agent, reported) for agent in agents)
    return IntegrationFlowDto(
        flow_name=flow.name,
        project=flow.project,
        status=_in_words(flow, len(agents), counts, _reasons(agents, reported)),
        requested_status=flow.requested,
        running_count=counts[Status.RUNNING],
        error_count=counts[Status.ERROR],
        stopped_count=counts[Status.STOPPED],
        unknown_count=counts[Status.UNKNOWN],
        category=flow.category,
        additional_packages=flow.additional_packages,
        version=flow.version,
        labels=flow.labels,
    )


def _reasons(agents: Sequence[KnownAgent], reported: Mapping[UUID, Told]) -> Mapping[Status, str]:
    """Of each status the reason that the first agent with one tells."""
    reasons: dict[Status, str] = {}
    for agent in agents:
        told = reported.get(agent.id)
        if told is not None and told.message and agent.online:
            reasons.setdefault(told.status, told.message)
    return reasons


def _in_words(flow: FlowEntry, agents: int, counts: Counter[Status], reasons: Mapping[Status, str]) -> str:
    if not flow.is_started:
        return "Stopping" if counts[Status.RUNNING] else "Stopped"
    if not agents:
        return f"No matching agent: needs {flow.needs_told}"
    for status, word in ((Status.ERROR, "Error"), (Status.RUNNING, "Running")):
        if counts[status]:
            where = "" if counts[status] == agents else f" on {counts[status]} of {agents} agents"
            why = f": {reasons[status]}" if status in reasons else ""
            return f"{word}{where}{why}"
    if counts[Status.STOPPED]:
        return "Starting"
    return reasons.get(Status.UNKNOWN, "Unknown: no matching agent has told")
