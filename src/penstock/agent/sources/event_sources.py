"""The agent's event sources: their parts put together."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from penstock.agent.access import Access
from penstock.agent.database import Database
from penstock.agent.outbox import Outbox
from penstock.agent.settings import AgentSettings
from penstock.agent.sources.build import SourceBuilder
from penstock.agent.sources.keeper import SourceKeeper
from penstock.agent.sources.reconciler import SourceReconciler
from penstock.agent.uplink import Uplink
from penstock.agent.variables import VariableSource
from penstock.connectors.packaged.process import PackageProcesses
from penstock.connectors.source_runner import Place
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import Clock
from penstock.packages.environment import Environments
from penstock.packages.index import PackageIndex
from penstock.protocol import subjects

_PACKAGES = "packages"


class EventSources:
    """Works within `async with`, while `serve` runs as a task. environment: of the processes of packages."""

    def __init__(
        self,
        settings: AgentSettings,
        folder: Path,
        environment: Mapping[str, str],
        database: Database,
        outbox: Outbox,
        uplink: Uplink,
        access: Access,
        clock: Clock,
    ) -> None:
        index = PackageIndex(settings.package_index, settings.package_folder, os.environ)
        allow_private = settings.allow_private_addresses
        self._processes = PackageProcesses(
            Environments(folder / _PACKAGES, index), environment, allow_private=allow_private
        )
        builder = SourceBuilder(VariableSource(uplink, subjects.SOURCE_VARIABLES), self._processes)
        place = Place(str(access.agent_id), clock, AddressGuard(allow_private=allow_private))
        self._keeper = SourceKeeper(database, outbox, builder, place, settings.zone)
        self._reconciler = SourceReconciler(self._keeper, uplink, access)

    async def __aenter__(self) -> Self:
        await self._keeper.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._keeper.__aexit__(kind, error, trace)
        finally:
            await self._processes.close()

    def notice(self) -> None:
        """Event sources may have changed."""
        self._reconciler.notice()

    async def serve(self) -> None:
        """Follows the servers, until cancelled."""
        await self._reconciler.serve()
