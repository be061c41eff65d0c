"""File transfers as assigned work of the agent: their parts put together."""

from contextlib import AsyncExitStack

from penstock.agent.assigned.book import Drawer
from penstock.agent.assigned.kind import AssignedKind, Surroundings
from penstock.agent.transfers.book import CHANNEL
from penstock.agent.transfers.build import TransferBuilder
from penstock.agent.transfers.keeper import TransferKeeper
from penstock.agent.transfers.run import TransferRunner
from penstock.agent.variables import VariableSource
from penstock.egress.address_guard import AddressGuard
from penstock.egress.local_folders import LocalFolders
from penstock.protocol import subjects
from penstock.rclone.pool import WorkerPool

_FOLDER = "transfers"
_FILES = "files"


class FileTransfers(AssignedKind):
    """Each run has an rclone process of its own, which ends with the agent."""

    kind = subjects.TRANSFERS

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        settings, clock = surroundings.settings, surroundings.clock
        self._pool = WorkerPool(
            surroundings.folder / _FOLDER, surroundings.environment, parallel=settings.parallel_transfers
        )
        builder = TransferBuilder(
            VariableSource(surroundings.uplink, subjects.variables_of(self.kind)),
            AddressGuard(allow_private=settings.allow_private_addresses),
            LocalFolders(settings.folders or [surroundings.folder / _FILES]),
        )
        drawer = Drawer(self.kind, CHANNEL, surroundings.database, surroundings.outbox, clock)
        self._keeper = TransferKeeper(drawer, TransferRunner(builder, self._pool, clock), settings.zone)

    @property
    def keeper(self) -> TransferKeeper:
        return self._keeper

    async def open(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._pool)
        await stack.enter_async_context(self._keeper)
