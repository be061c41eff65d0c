"""The only wiring: opens the parts that the settings name and builds the areas on them."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import structlog

from penstock.bus.bus import Bus
from penstock.bus.credentials import BusKeys
from penstock.bus.embedded import EmbeddedServer
from penstock.engine.client import EngineClient
from penstock.kernel.clock import Clock, SystemClock
from penstock.kernel.errors import Invalid, naming_files
from penstock.kernel.ownership import exposure
from penstock.protocol.signature import Signer
from penstock.resource.area import Area, Stopping, Worker
from penstock.resource.audit import ENTITY_EVENTS
from penstock.resource.changes import Changes
from penstock.resource.operation import Operation, operations_of
from penstock.resource.ports.configuration_kinds import ConfigurationKinds
from penstock.resource.ports.operation_catalog import OperationCatalog
from penstock.resource.secrets import Secrets
from penstock.server.authentication import Authentication
from penstock.server.container import Container
from penstock.server.discovery import find_areas
from penstock.server.documentation import Documentation
from penstock.server.engine import engine_client
from penstock.server.health import Health
from penstock.server.key_file import master_key, previous_keys
from penstock.server.openapi import openapi_document
from penstock.server.policies import policies
from penstock.server.retention import Retention
from penstock.server.settings import ServerSettings
from penstock.store.connect import store_for
from penstock.store.store import Store

log = structlog.get_logger(__name__)

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Platform:
    """The running parts.

    nats: the embedded bus server, None when an external one is used.
    stopping: set when the server begins to stop; answers that go on by themselves end then.
    """

    settings: ServerSettings
    container: Container
    operations: Sequence[Operation]
    authentication: Authentication
    workers: Sequence[Worker]
    nats: EmbeddedServer | None
    stopping: Stopping


@asynccontextmanager
async def open_platform(
    settings: ServerSettings, clock: Clock | None = None, progress: Progress = lambda step: None
) -> AsyncIterator[Platform]:
    """Opens store and bus, wires every area, and closes all in reverse order.

    progress: told each step in a few words. Raises Invalid for settings that cannot work, Unavailable
    when database or bus cannot be reached, UnusableFile.
    """
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        with naming_files():
            platform = await _open(settings, clock, progress, stack)
        yield platform


async def _open(settings: ServerSettings, clock: Clock, progress: Progress, stack: AsyncExitStack) -> Platform:
    areas = find_areas()
    settings.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if problem := exposure(settings.folder.stat(), os.geteuid()):
        raise Invalid.one("PENSTOCK_DATA", f"{settings.folder} {problem}")
    progress("opening the database")
    store = store_for(settings.store_address, clock)
    journals = [ENTITY_EVENTS, *(journal for area in areas for journal in area.journals)]
    await store.open([collection for area in areas for collection in area.collections], journals)
    stack.push_async_callback(store.close)
    progress("starting the bus")
    keys = BusKeys.load_or_create(_keys_file(settings))
    nats = await _embedded_bus(settings, keys, stack)
    servers = [nats.url] if nats else settings.nats_url
    bus = await Bus.connect(servers, keys.server_user(), name="penstock-server")
    stack.push_async_callback(bus.close)
    progress("wiring the areas")
    container = _container(settings, store, bus, keys, clock, servers)
    container.put(EngineClient, engine_client(settings, bus, keys, servers, container.get(Stopping), stack))
    return _wire(settings, container, areas, nats)


def _keys_file(settings: ServerSettings) -> Path:
    return Path(settings.nats_keys) if settings.nats_keys else settings.folder / "bus-keys.json"


async def _embedded_bus(settings: ServerSettings, keys: BusKeys, stack: AsyncExitStack) -> EmbeddedServer | None:
    if settings.nats_url:
        return None
    server = EmbeddedServer(settings.folder / "nats", keys, settings.nats_host, settings.nats_port)
    await server.start()
    stack.push_async_callback(server.stop)
    return server


def _container(
    settings: ServerSettings, store: Store, bus: Bus, keys: BusKeys, clock: Clock, servers: Sequence[str]
) -> Container:
    secrets = Secrets(master_key(settings), previous_keys(settings))
    container = Container()
    parts: list[tuple[Any, Any]] = [
        (ServerSettings, settings),
        (Store, store),
        (Bus, bus),
        (BusKeys, keys),
        (Clock, clock),
        (Secrets, secrets),
        (Signer, Signer(secrets.signing_seed)),
        (Stopping, Stopping()),
    ]
    parts += [(type(policy), policy) for policy in policies(settings, servers)]
    for part_type, part in parts:
        container.put(part_type, part)
    return container


def _wire(
    settings: ServerSettings, container: Container, areas: Sequence[Area], nats: EmbeddedServer | None
) -> Platform:
    for area in areas:
        container.declare([*area.services, *area.handlers, *area.workers, *area.kinds, *area.credentials])
        for port, implementation in area.provides:
            container.provide(port, implementation)
    container.declare([Changes, Documentation, Health, Retention])
    operations: list[Operation] = []
    container.put(OperationCatalog, OperationCatalog(operations))
    container.put(ConfigurationKinds, ConfigurationKinds(container.get(kind) for area in areas for kind in area.kinds))
    documentation = container.get(Documentation)
    for handlers in (documentation, container.get(Health)):
        operations += operations_of("server", handlers)
    for area in areas:
        for handler in area.handlers:
            operations += operations_of(area.name, container.get(handler))
    documentation.publish(openapi_document(operations, version("penstock")))
    checks = [container.get(check) for area in areas for check in area.credentials]
    workers: list[Worker] = [container.get(worker) for area in areas for worker in area.workers]
    workers.append(container.get(Retention))
    stopping = container.get(Stopping)
    return Platform(settings, container, operations, Authentication(checks), workers, nats, stopping)
