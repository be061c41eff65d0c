"""Operations on flows."""

from collections.abc import Sequence

from penstock.areas.flows.log_entry import IntegrationLogItem, LogFilter
from penstock.areas.flows.logs import FlowLogs
from penstock.areas.flows.model import (
    AgentIntegrationFlowStatus,
    FlowOnAgent,
    IntegrationFlowDto,
    IntegrationFlowsResponseItem,
)
from penstock.areas.flows.service import FlowService
from penstock.kernel.actor import Actor, Role
from penstock.protocol.status import IntegrationLogMessage
from penstock.resource.answer import Encoded
from penstock.resource.operation import operation
from penstock.resource.page import PageSize
from penstock.resource.parameter import Filter, IfMatch


class FlowOperations:
    """Flows, how they stand, and what they log."""

    def __init__(self, service: FlowService, logs: FlowLogs) -> None:
        self._service = service
        self._logs = logs

    @operation("GET", "/integrations/flows", Role.READER)
    async def flows(self) -> Sequence[IntegrationFlowDto]:
        """List flows, newest first, with how they stand on the agents that they match.

        The counts add up to the number of matching agents; one that is offline or has not reported counts as
        Unknown. Status says it in words; a started flow without a matching agent says what it needs of one.
        """
        return await self._service.list()

    @operation("GET", "/integrations/flows/{integrationName}", Role.READER)
    async def get(self, integration_name: str) -> Encoded[IntegrationFlowsResponseItem]:
        """Get a flow. Its name is compared without case.

        Properties are its variables. FlowEngineVersion is what runs it on the agents that have told.
        """
        return await self._service.get(integration_name)

    @operation("GET", "/integrations/flows/{integrationName}/agents", Role.READER, beyond=True)
    async def on_agents(self, integration_name: str) -> Sequence[FlowOnAgent]:
        """List how a flow stands on each agent that it matches, with counts, last log lines and what is wrong."""
        return await self._service.on_agents(integration_name)

    @operation("GET", "/integrations/flows/{integrationName}/status", Role.READER)
    async def status(self, integration_name: str) -> Sequence[AgentIntegrationFlowStatus]:
        """List how a flow stands on each agent that it matches.

        Status: 0 Running, 1 Error, 2 Stopped, 3 Unknown (the agent is offline or has not reported).
        """
        return await self._service.status(integration_name)

    @operation("GET", "/integrations/flows/{integrationFlowName}/logs", Role.READER)
    async def flow_logs(self, integration_flow_name: str, count: PageSize) -> Sequence[IntegrationLogMessage]:
        """List a flow's latest log lines of all agents, newest first."""
        return await self._logs.of_flow(integration_flow_name, count)

    @operation("POST", "/integrations/flows/start", Role.OPERATOR, status=202)
    async def start(self, integration_flow_name: str, actor: Actor) -> None:
        """Request that a flow runs on every agent that it matches.

        Answers at once; agents converge. Starting a started flow changes nothing, unless it is in error on an agent:
        then it is tried again.
        """
        await self._service.start(integration_flow_name, actor)

    @operation("POST", "/integrations/flows/stop", Role.OPERATOR, status=202)
    async def stop(self, integration_flow_name: str, actor: Actor) -> None:
        """Request that a flow runs nowhere.

        Answers at once; agents converge. Due times of a stopped schedule are skipped. Stopping a stopped flow
        changes nothing.
        """
        await self._service.stop(integration_flow_name, actor)

    @operation("DELETE", "/integrations/flows/{integrationFlowName}", Role.OPERATOR, status=202)
    async def delete(self, integration_flow_name: str, actor: Actor, if_match: IfMatch) -> None:
        """Delete a flow; agents stop it.

        A Schedule whose flow is deleted does not run, and its due times are skipped, until it is applied again.
        """
        await self._service.delete(integration_flow_name, actor, if_match)

    @operation("GET", "/integrations/logs", Role.READER)
    async def logs(self, wanted: Filter[LogFilter]) -> Encoded[list[IntegrationLogItem]]:
        """List log lines of all flows, newest first.

        FromDate <= Timestamp < ToDate. IntegrationType is `flow` or `schedule`. Names, types, levels and
        environments are compared without case. Lines are kept for 30 days. Count is 100 unless given, at most 1000.
        """
        return await self._logs.find(wanted)
