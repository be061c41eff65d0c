"""Endpoints as assigned work of the agent: their parts put together, and what is told of them."""

import os
import platform
from collections.abc import Callable
from contextlib import AsyncExitStack
from uuid import UUID

import msgspec

from penstock.agent.assigned.book import Drawer
from penstock.agent.assigned.kind import AssignedKind, Surroundings
from penstock.agent.endpoints.keeper import EndpointKeeper
from penstock.agent.entries import Channel
from penstock.agent.settings import PREFIX, AgentSettings
from penstock.agent.variables import VariableSource
from penstock.apihost.entrance import Entrance
from penstock.apihost.host import ApiHost, HostPolicy
from penstock.apihost.packages import ApiPackages
from penstock.apihost.standing import together
from penstock.bus.configuration import bracketed
from penstock.packages.index import PackageIndex
from penstock.protocol import subjects
from penstock.protocol.endpoint import EndpointItem, EndpointStanding
from penstock.protocol.status import (
    AgentApiDefinition,
    AgentEndpointDto,
    AgentEndpointManagerStatusEnum2,
    EndpointStatusEnum2,
)

_FOLDER = "api-packages"
_TOLD_MOVES = 10
_HOSTED = (EndpointStatusEnum2.READY, EndpointStatusEnum2.UNHEALTHY)


class Endpoints(AssignedKind):
    """on_moved: called whenever an endpoint stands otherwise."""

    kind = subjects.ENDPOINTS

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        settings = surroundings.settings
        self._agent = surroundings.access.agent_id
        self.base_address = _address(settings)
        self._host = ApiHost(
            ApiPackages(
                surroundings.folder / _FOLDER,
                PackageIndex(settings.package_index, settings.package_folder, os.environ),
                surroundings.environment,
            ),
            surroundings.environment,
            HostPolicy(
                pause=settings.endpoint_retry_seconds,
                probe=settings.endpoint_probe_seconds,
                most=settings.body_mb * 1024 * 1024,
            ),
            surroundings.folder,
        )
        drawer = Drawer(self.kind, Channel.ENDPOINTS, surroundings.database, surroundings.outbox, surroundings.clock)
        entrance = Entrance(settings.http_host, settings.endpoint_key, PREFIX + "ENDPOINT_KEY")
        variables = VariableSource(surroundings.uplink, subjects.variables_of(self.kind))
        self._keeper = EndpointKeeper(drawer, self._host, surroundings.server, entrance, variables, self._moved)
        self.on_moved: Callable[[], None] = lambda: None

    @property
    def keeper(self) -> EndpointKeeper:
        return self._keeper

    async def open(self, stack: AsyncExitStack) -> None:
        await stack.enter_async_context(self._host)
        await stack.enter_async_context(self._keeper)

    @property
    def together(self) -> AgentEndpointManagerStatusEnum2:
        """What the endpoints say together."""
        return together([standing.status for _, standing in self._keeper.standings.values()])

    def told(self) -> list[AgentEndpointDto]:
        """Each endpoint with its latest moves; secrets masked."""
        return [self._told(key, item, standing) for key, (item, standing) in self._keeper.standings.items()]

    def apis(self) -> list[AgentApiDefinition]:
        """The APIs that are hosted here now."""
        found = {
            (item.api_name, item.api_version)
            for item, standing in self._keeper.standings.values()
            if item is not None and standing.status in _HOSTED
        }
        return [AgentApiDefinition(api_name=name, api_version=version) for name, version in sorted(found)]

    def _told(self, key: UUID, item: EndpointItem | None, standing: EndpointStanding) -> AgentEndpointDto:
        dto = AgentEndpointDto(
            endpoint_id=key,
            agent_id=self._agent,
            route=standing.route,
            configuration=standing.configuration,
            current_status=standing.status_number,
            previous_status=standing.previous_number,
            last_status_update=standing.last_status_update,
            status_updates=standing.moves[-_TOLD_MOVES:],
            endpoint_route=standing.route,
        )
        if item is None:
            return dto
        api = AgentApiDefinition(api_name=item.api_name, api_version=item.api_version)
        return msgspec.structs.replace(dto, api=api, endpoint_name=item.name)

    def _moved(self) -> None:
        self.on_moved()


def _address(settings: AgentSettings) -> str | None:
    """Where others reach the agent's HTTP server; None while it has none."""
    if settings.http_address:
        return settings.http_address.rstrip("/")
    if not settings.http_port:
        return None
    everywhere = settings.http_host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
    host = platform.node() if everywhere else bracketed(settings.http_host)
    return f"http://{host}:{settings.http_port}"
