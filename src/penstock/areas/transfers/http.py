"""Operations on file transfers."""

from collections.abc import Sequence
from uuid import UUID

from penstock.areas.transfers.history import TransferHistory
from penstock.areas.transfers.model import (
    AgentMftStatus,
    MftDto,
    MftFileTransferEntry,
    MftIntegration,
    MftIntegration2,
    MftIntegrationDetails,
    MftProgress,
    MftRun,
    MftScheduleExecuted,
    MftTick,
    TransferFilter,
)
from penstock.areas.transfers.overview import TransferOverview, shown
from penstock.areas.transfers.progress_stream import ProgressStream
from penstock.areas.transfers.service import TransferService
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import Encoded, EventStream
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, Filter, IfMatch


class TransferOperations:
    """Managed file transfers (MFT): what moves, when, and what came of it."""

    def __init__(
        self, service: TransferService, overview: TransferOverview, history: TransferHistory, progress: ProgressStream
    ) -> None:
        self._service = service
        self._overview = overview
        self._history = history
        self._progress = progress

    @operation("GET", "/integrations/mfts", Role.READER)
    async def transfers(self) -> Sequence[MftDto]:
        """List file transfers, newest first, with how they stand on the agents that they match.

        The counts add up to the number of matching agents; one that is offline or has not reported counts as
        Unknown. An Error is the last run's.
        """
        return await self._overview.transfers()

    @operation("PUT", "/integrations/mfts", Role.OPERATOR, status=201)
    async def save(self, mft: Body[MftIntegration2], actor: Actor, if_match: IfMatch) -> MftIntegration:
        """Make a file transfer, or change the one of the same name.

        A change of what runs is a new Version; a run under way ends as it began. A new transfer is Stopped unless
        RequestedStatus says otherwise; Unknown leaves what was requested.
        """
        return shown(await self._service.save(mft, actor, if_match))

    @operation("GET", "/integrations/mfts/filetransfers", Role.READER)
    async def files(self, wanted: Filter[TransferFilter]) -> Encoded[list[MftFileTransferEntry]]:
        """List transferred files, newest first; kept for 90 days."""
        return await self._history.files(wanted)

    @operation("GET", "/integrations/mfts/history", Role.READER)
    async def history(self, wanted: Filter[TransferFilter]) -> Encoded[list[MftScheduleExecuted]]:
        """List runs that have ended, newest first; kept for 90 days.

        The last of Items of a failed run says in plain words why it failed.
        """
        return await self._history.runs(wanted)

    @operation("POST", "/integrations/mfts/start", Role.OPERATOR, status=202)
    async def start(self, mft_name: str, actor: Actor) -> None:
        """Request that a file transfer runs: when it is due, or once now when it has no schedule.

        Answers at once; agents converge. An order that finds a run under way is met by that run.
        """
        await self._service.start(mft_name, actor)

    @operation("POST", "/integrations/mfts/stop", Role.OPERATOR, status=202)
    async def stop(self, mft_name: str, actor: Actor) -> None:
        """Request that a file transfer runs nowhere; runs under way are ended.

        Answers at once; agents converge. Due times of a stopped transfer are skipped.
        """
        await self._service.stop(mft_name, actor)

    @operation("GET", "/integrations/mfts/{mftName}", Role.READER)
    async def get(self, mft_name: str) -> MftIntegration:
        """Get a file transfer. Its name is compared without case."""
        return shown(await self._service.named(mft_name))

    @operation("DELETE", "/integrations/mfts/{mftName}", Role.OPERATOR, status=202)
    async def remove(self, mft_name: str, actor: Actor, if_match: IfMatch) -> None:
        """Delete a file transfer; agents end its runs. Its history stays."""
        await self._service.remove(mft_name, actor, if_match)

    @operation("GET", "/integrations/mfts/{mftName}/details", Role.READER)
    async def details(self, mft_name: str) -> MftIntegrationDetails:
        """Get a file transfer with its core systems, secrets masked."""
        return await self._overview.details(mft_name)

    @operation("GET", "/integrations/mfts/{integrationName}/status", Role.READER)
    async def status(self, integration_name: str) -> Sequence[AgentMftStatus]:
        """List how a file transfer stands on each agent that it matches.

        Status: 0 Running (a run is under way, or the schedule is followed), 1 Error (the last run failed), 2 Stopped,
        3 Unknown (the agent is offline or has not reported).
        """
        return await self._overview.status(integration_name)

    @operation("GET", "/integrations/mfts/{name}/history/{id}", Role.READER)
    async def run_of(self, name: str, id: UUID) -> MftScheduleExecuted:
        """Get a run, also one that is under way."""
        return await self._history.run(name, id)

    @operation("POST", "/integrations/mfts/{name}/run", Role.OPERATOR, status=202, beyond=True)
    async def run(self, name: str, actor: Actor, force: bool = False) -> MftRun:
        """Order a run now, on every agent that the transfer matches; starts the transfer when it is stopped.

        Force lifts the bound on what a sync may delete, for this run.
        """
        return MftRun(order=await self._service.run(name, force, actor))

    @operation("GET", "/integrations/mfts/{name}/ticks", Role.READER, beyond=True)
    async def ticks(self, name: str, wanted: Filter[TransferFilter]) -> Encoded[list[MftTick]]:
        """List what became of due times, newest first: fired, skipped or missed, with the reason."""
        return await self._history.ticks(name, wanted)

    @operation("GET", "/integrations/mfts/{name}/progress", Role.READER, beyond=True)
    async def progress(self, name: str) -> Sequence[MftProgress]:
        """List how far the runs under way are, on each agent that the transfer matches."""
        return await self._overview.progress_of(name)

    @operation("GET", "/integrations/mfts/{name}/progress/live", Role.READER, beyond=True)
    async def live_progress(self, name: str) -> EventStream:
        """Follow the progress as server-sent events: the list of `progress`, whenever it changes."""
        return await self._progress.follow(name)
