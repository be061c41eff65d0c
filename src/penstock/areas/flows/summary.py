"""How a flow stands on all agents together, in counts and words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from uuid import UUID

from penstock.areas.flows.catalog import FlowEntry
from penstock.areas.flows.model import IntegrationFlowDto
from penstock.protocol.report import IntegrationFlowStatusEnum as Status
from penstock.resource.ports import KnownAgent

Statuses = Mapping[UUID, Status]


def status_on(agent: KnownAgent, reported: Statuses) -> Status:
    """The status on one agent: Unknown while it is offline or has not reported."""
    return reported.get(agent.id, Status.UNKNOWN) if agent.online else Status.UNKNOWN


def summarised(flow: FlowEntry, agents: Sequence[KnownAgent], reported: Statuses) -> IntegrationFlowDto:
    """agents: those that the flow matches."""
    counts = Counter(status_on(agent, reported) for agent in agents)
    return IntegrationFlowDto(
        flow_name=flow.name,
        project=flow.project,
        status=_in_words(flow, len(agents), counts),
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


def _in_words(flow: FlowEntry, agents: int, counts: Counter[Status]) -> str:
    if not flow.is_started:
        return "Stopping" if counts[Status.RUNNING] else "Stopped"
    if not agents:
        return f"No matching agent: needs {flow.needs_told}"
    for status, word in ((Status.ERROR, "Error"), (Status.RUNNING, "Running")):
        if counts[status] == agents:
            return word
        if counts[status]:
            return f"{word} on {counts[status]} of {agents} agents"
    return "Starting" if counts[Status.STOPPED] else "Unknown: no matching agent has told"
