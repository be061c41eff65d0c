"""File transfers as the API shows them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from penstock.areas.transfers.assignments import TransferAssignments
from penstock.areas.transfers.model import (
    AgentMftStatus,
    IntegrationStatusEnum,
    MftDto,
    MftIntegration,
    MftIntegrationDetails,
    MftProgress,
    MftStorage,
    MftStorageDetails,
    MftStorageDetails2,
    Requirement2,
)
from penstock.areas.transfers.service import TransferService
from penstock.areas.transfers.states import TransferStates
from penstock.areas.transfers.stored import Mft
from penstock.protocol.core_system import CoreSystem, CoreSystem2
from penstock.protocol.transfer import MftStatus, TransferStatus
from penstock.resource.matching import told
from penstock.resource.ports.agents import KnownAgent
from penstock.resource.ports.core_systems import CoreSystems, KnownCoreSystem

S = TypeVar("S", bound=CoreSystem)


class TransferOverview:
    """Reads of transfers, and of how they stand on the agents that they match."""

    def __init__(
        self,
        transfers: TransferService,
        systems: CoreSystems,
        states: TransferStates,
        assignments: TransferAssignments,
    ) -> None:
        self._transfers = transfers
        self._systems = systems
        self._states = states
        self._assignments = assignments

    async def transfers(self) -> list[MftDto]:
        """Newest first."""
        reported = await self._states.of_all()
        systems: dict[str, CoreSystem2] = {}
        return [await self._summary(mft, reported.get(mft.key, {}), systems) for mft in await self._transfers.all()]

    async def details(self, name: str) -> MftIntegrationDetails:
        """Raises NotFound."""
        mft = await self._transfers.named(name)
        fields = {field: getattr(shown(mft), field) for field in MftIntegration.__struct_fields__}
        fields["source"] = MftStorageDetails(system=await self._shown(mft.source, CoreSystem), path=mft.source.path)
        fields["destination"] = MftStorageDetails(
            system=await self._shown(mft.destination, CoreSystem), path=mft.destination.path
        )
        return MftIntegrationDetails(**fields)

    async def status(self, name: str) -> list[AgentMftStatus]:
        """On each agent that it matches; Unknown where the agent is offline or has told nothing. Raises NotFound."""
        mft = await self._transfers.named(name)
        return [
            AgentMftStatus(
                agent_id=each.agent_id,
                mft_name=mft.name,
                status=each.status if each.online else MftStatus.UNKNOWN,
                update_time=each.reported or mft.since,
            )
            for each in await self.progress(mft)
        ]

    async def progress_of(self, name: str) -> Sequence[MftProgress]:
        """Raises NotFound."""
        return await self.progress(await self._transfers.named(name))

    async def progress(self, mft: Mft) -> Sequence[MftProgress]:
        """On each agent that it matches."""
        reported = await self._states.reported(mft.key)
        return [_progress(agent, *reported.get(agent.id, (None, None))) for agent in await self._agents(mft)]

    async def _agents(self, mft: Mft) -> Sequence[KnownAgent]:
        return await self._assignments.agents_of(mft)

    async def _summary(
        self, mft: Mft, reported: Mapping[UUID, TransferStatus], systems: dict[str, CoreSystem2]
    ) -> MftDto:
        """systems: those that were read for transfers before."""
        agents = await self._agents(mft)
        for storage in (mft.source, mft.destination):
            if storage.name not in systems:
                systems[storage.name or ""] = await self._shown(storage, CoreSystem2)
        counts = Counter(_status_on(agent, reported) for agent in agents)
        return MftDto(
            name=mft.name,
            project=mft.project,
            status=_in_words(mft, agents, counts, reported),
            requested_status=mft.requested_status,
            running_count=counts[MftStatus.RUNNING],
            error_count=counts[MftStatus.ERROR],
            stopped_count=counts[MftStatus.STOPPED],
            unknown_count=counts[MftStatus.UNKNOWN],
            category=mft.category,
            version=mft.version,
            command=mft.command,
            schedule=mft.schedule,
            labels=[label.strip() for label in (mft.labels or "").split(",") if label.strip()],
            source=MftStorageDetails2(system=systems[mft.source.name or ""], path=mft.source.path),
            destination=MftStorageDetails2(system=systems[mft.destination.name or ""], path=mft.destination.path),
        )

    async def _shown(self, storage: MftStorage, type: type[S]) -> S:
        """The core system without its secrets; its name alone when it is gone."""
        system = await self._systems.known(storage.name or "")
        return _core_system(system, type) if system is not None else type(name=storage.name)


def shown(mft: Mft) -> MftIntegration:
    return MftIntegration(
        name=mft.name,
        project=mft.project,
        command=mft.command,
        schedule=mft.schedule,
        source=mft.source,
        destination=mft.destination,
        requested_status=IntegrationStatusEnum(mft.requested_status),
        requirements=[Requirement2(identifier=each.identifier, value=each.value) for each in mft.requirements],
        variables=mft.variables,
        args=mft.args,
        filters=mft.filters,
        version=mft.version,
        labels=mft.labels,
    )


def _core_system(system: KnownCoreSystem, type: type[S]) -> S:
    return type(
        name=system.name,
        title=system.title,
        description=system.description,
        category=system.category,
        type=system.type,
        variables=dict(system.shown),
    )


def _progress(agent: KnownAgent, status: TransferStatus | None, at: datetime | None) -> MftProgress:
    if status is None:
        return MftProgress(agent_id=agent.id, agent=agent.name, online=agent.online, status=MftStatus.UNKNOWN)
    stats = status.stats
    percent = round(100 * stats.bytes / stats.total_bytes, 1) if stats is not None and stats.total_bytes else None
    return MftProgress(
        agent_id=agent.id,
        agent=agent.name,
        online=agent.online,
        percent=percent,
        reported=at,
        **{field: getattr(status, field) for field in ("status", "message", "run", "order", "started", "stats")},
    )


def _status_on(agent: KnownAgent, reported: Mapping[UUID, TransferStatus]) -> MftStatus:
    status = reported.get(agent.id)
    return status.status if status is not None and agent.online else MftStatus.UNKNOWN


def _in_words(
    mft: Mft, agents: Sequence[KnownAgent], counts: Counter[MftStatus], reported: Mapping[UUID, TransferStatus]
) -> str:
    if not agents:
        return f"No matching agent: needs {told(mft.requirements)}"
    failed = next((each for each in reported.values() if each.status is MftStatus.ERROR), None)
    if counts[MftStatus.ERROR] and failed is not None:
        return f"Error: {failed.message}" if failed.message else "Error"
    if counts[MftStatus.RUNNING]:
        return "Running"
    return "Stopped" if counts[MftStatus.STOPPED] == len(agents) else "Unknown"
