"""Replicas that share a database and a bus."""

import asyncio
import base64
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from penstock.bus.credentials import BusKeys
from penstock.bus.embedded import EmbeddedServer
from tests.application import ADMIN_PASSWORD, Application, running_application
from tests.areas.waiting import until
from tests.nats_server import free_port
from tests.postgres import PostgresServer
from tests.program import PROGRAM


@dataclass
class Cluster:
    """A database and a bus that replicas share."""

    folder: Path
    settings: dict[str, str]

    @asynccontextmanager
    async def replica(self, name: str) -> AsyncIterator[Application]:
        async with running_application(self.folder / name, **self.settings) as application:
            # The next replica makes the other users anew.
            application.operator = application.reader = application.admin
            yield application

    @asynccontextmanager
    async def process(self) -> AsyncIterator[tuple[asyncio.subprocess.Process, Any]]:
        """A replica that is a process of its own, and clients of its Admin by the names that Application has."""
        port = free_port()
        own = {"PENSTOCK_DATA": str(self.folder / "process"), "PENSTOCK_PORT": str(port)}
        allowed = {"PENSTOCK_ALLOW_PRIVATE_ADDRESSES": "true", "PENSTOCK_ADMIN_PASSWORD": ADMIN_PASSWORD}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
        environment = {**inherited, **self.settings, **own, **allowed}
        process = await asyncio.create_subprocess_exec(*PROGRAM, "serve", env=environment)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            client.headers["authorization"] = f"Bearer {await until(lambda: _token(client))}"
            yield process, SimpleNamespace(operator=client, reader=client)
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _token(client: httpx.AsyncClient) -> str | None:
    try:
        answer = await client.post("/identity/login/username", json={"UserName": "admin", "Password": ADMIN_PASSWORD})
    except httpx.TransportError:
        return None
    return answer.json()["Token"] if answer.status_code == 200 else None


@pytest.fixture(scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory, postgres_server: PostgresServer) -> AsyncIterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    keys = folder / "keys.json"
    async with EmbeddedServer(folder / "nats", BusKeys.load_or_create(keys)) as nats:
        settings = {
            "PENSTOCK_DATABASE_URL": postgres_server.new_database(),
            "PENSTOCK_NATS_URL": nats.url,
            "PENSTOCK_NATS_KEYS": str(keys),
            "PENSTOCK_SECRET_KEY": base64.b64encode(os.urandom(32)).decode(),
        }
        yield Cluster(folder, settings)
