"""Fixtures with real NATS servers, shared by the whole run. A test module takes them in by

    pytest_plugins = ("tests.nats",)

and the types from `tests.nats_server` (pytest wants a plugin not to be imported before).
"""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
import pytest_asyncio

from penstock.bus.bus import Bus
from penstock.bus.configuration import server_configuration
from penstock.bus.credentials import BusKeys
from penstock.bus.embedded import EmbeddedServer
from penstock.bus.server_process import ServerProcess
from tests.nats_server import NatsServer, free_port


@pytest_asyncio.fixture(scope="session")
async def nats_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[NatsServer]:
    """The embedded server, shared by the whole run: use names of your own (`unique`)."""
    keys = BusKeys.generate()
    async with EmbeddedServer(tmp_path_factory.mktemp("nats"), keys) as server:
        yield NatsServer(server.url, keys)


@pytest_asyncio.fixture(scope="session")
async def external_nats_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[NatsServer]:
    """A nats-server that an operator might run: the printed configuration, no supervision by us."""
    keys = BusKeys.generate()
    folder = tmp_path_factory.mktemp("external-nats")
    port = free_port()
    configuration = folder / "nats.conf"
    configuration.write_text(server_configuration(keys, host="127.0.0.1", port=port, store=folder / "store"))
    process = await ServerProcess.launch(configuration)
    try:
        await process.ready()
        yield NatsServer(f"nats://127.0.0.1:{port}", keys)
    finally:
        await process.end()


@pytest_asyncio.fixture
async def bus(nats_server: NatsServer) -> AsyncIterator[Bus]:
    """A connection to the shared server with a server's rights."""
    async with await nats_server.connect() as connected:
        yield connected


@pytest.fixture
def unique() -> str:
    """A name that no other test uses."""
    return f"t{uuid4().hex}"
