"""A NATS server that is not the platform's: somebody's own, which event sources read from."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from nats.aio.client import Client

import nats
from penstock.bus.server_process import ServerProcess
from tests.nats_server import free_port

USER, PASSWORD = "source", "the password of the source"


class ForeignNats:
    """A running server. client: connected to it."""

    def __init__(self, folder: Path, port: int) -> None:
        self._configuration = folder / "nats.conf"
        self.url = f"nats://127.0.0.1:{port}"
        self._configuration.write_text(
            f'listen: "127.0.0.1:{port}"\n'
            f'jetstream {{ store_dir: "{folder / "store"}" }}\n'
            f'authorization {{ user: "{USER}", password: "{PASSWORD}" }}\n'
        )
        self._process: ServerProcess | None = None
        self.client: Client = Client()

    async def start(self) -> None:
        self._process = await ServerProcess.launch(self._configuration)
        await self._process.ready()
        self.client = await nats.connect(self.url, user=USER, password=PASSWORD)

    async def stop(self) -> None:
        await self.client.close()
        if self._process is not None:
            await self._process.end()
            self._process = None


@asynccontextmanager
async def foreign_nats(folder: Path) -> AsyncIterator[ForeignNats]:
    folder.mkdir(parents=True, exist_ok=True)
    server = ForeignNats(folder, free_port())
    await server.start()
    try:
        yield server
    finally:
        await server.stop()
