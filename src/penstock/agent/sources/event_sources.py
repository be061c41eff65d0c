"""Event sources as assigned work of the agent: their parts put together."""

import os
from contextlib import AsyncExitStack

from penstock.agent.assigned.book import Drawer
from penstock.agent.assigned.kind import AssignedKind, Surroundings
from penstock.agent.entries import Channel
from penstock.agent.sources.build import SourceBuilder
from penstock.agent.sources.keeper import SourceKeeper
from penstock.agent.variables import VariableSource
from penstock.connectors.packaged.process import PackageProcesses
from penstock.connectors.source_runner import Place
from penstock.egress.address_guard import AddressGuard
from penstock.packages.environment import Environments
from penstock.packages.index import PackageIndex
from penstock.protocol import subjects

_PACKAGES = "packages"


class EventSources(AssignedKind):
    """Kinds of packages run in processes of their own, which end with the agent."""

    kind = subjects.SOURCES

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        settings, clock = surroundings.settings, surroundings.clock
        index = PackageIndex(settings.package_index, settings.package_folder, os.environ)
        allow_private = settings.allow_private_addresses
        self._processes = PackageProcesses(
            Environments(surroundings.folder / _PACKAGES, index), surroundings.environment, allow_private=allow_private
        )
        builder = SourceBuilder(VariableSource(surroundings.uplink, subjects.variables_of(self.kind)), self._processes)
        place = Place(str(surroundings.access.agent_id), clock, AddressGuard(allow_private=allow_private))
        drawer = Drawer(self.kind, Channel.EVENTS, surroundings.database, surroundings.outbox, clock)
        self._keeper = SourceKeeper(drawer, builder, place, settings.zone)

    @property
    def keeper(self) -> SourceKeeper:
        return self._keeper

    async def open(self, stack: AsyncExitStack) -> None:
        stack.push_async_callback(self._processes.close)
        await stack.enter_async_context(self._keeper)
