"""An application with a folder of API packages, and an agent that hosts them."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from tests.api_packages import free_port, package_index
from tests.application import Application, running_application
from tests.areas.waiting import until

Entity = dict[str, Any]

NEW, INITIALIZING, INITIALIZING_FAILED, READY, CHANGED, FAILED, UNHEALTHY = range(7)


@asynccontextmanager
async def running_shop(folder: Path) -> AsyncIterator[Application]:
    """An application that finds packages in a folder and nowhere else."""
    wheels = package_index(folder / "wheels")
    settings = {"PENSTOCK_PACKAGE_INDEX": "none", "PENSTOCK_PACKAGE_FOLDER": str(wheels)}
    # uv remembers wheels by their versions, and these change while they are worked on.
    os.environ["UV_CACHE_DIR"] = str(folder / "cache")
    try:
        async with running_application(folder / "server", **settings) as running:
            yield running
    finally:
        del os.environ["UV_CACHE_DIR"]


class HostingAgent:
    """An agent as a process of its own. settings: of its environment, without the prefix."""

    def __init__(self, application: Application, folder: Path, settings: Mapping[str, str]) -> None:
        self.folder = folder
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._settings = {
            "SERVER": application.address,
            "FOLDER": str(folder / "agent"),
            "HTTP_PORT": str(self.port),
            "PACKAGE_INDEX": "none",
            "PACKAGE_FOLDER": str(folder.parent / "wheels"),
            "ENDPOINT_RETRY_SECONDS": "0.1",
            "ENDPOINT_PROBE_SECONDS": "0.1",
            **settings,
        }
        self._process: asyncio.subprocess.Process | None = None

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    @property
    def process(self) -> asyncio.subprocess.Process:
        assert self._process is not None
        return self._process

    async def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "penstock.agent",
                env={**os.environ, **{f"PENSTOCK_AGENT_{key}": value for key, value in self._settings.items()}},
                stderr=log,
            )

    async def end(self) -> None:
        if self.process.returncode is None:
            self.process.terminate()
        await self.process.wait()


@asynccontextmanager
async def hosting_agent(
    application: Application, folder: Path, name: str, **settings: str
) -> AsyncIterator[HostingAgent]:
    """Started, with the capability Host=<name>."""
    folder.mkdir()
    pending = await application.admin.post("/agents/create", json="hosts")
    token = pending.json()["Token"]
    agent = HostingAgent(
        application, folder, {"NAME": name, "TOKEN": token, "CAPABILITIES": f"Host={name}", **settings}
    )
    await agent.start()
    try:
        yield agent
    finally:
        await agent.end()


async def register(application: Application, name: str, version: str | None = None) -> tuple[Entity, Entity]:
    """Registers a package; it and its installation, once that is over."""
    body = {"PackageName": name, "PackageVersion": version}
    answer = await application.admin.post("/integrations/packages", json=body)
    assert (answer.status_code, answer.json()["Status"]) == (200, 0), answer.text
    path = f"/integrations/packages/{answer.json()['Id']}"

    async def over() -> Entity | None:
        found: Entity = (await application.reader.get(f"{path}/installation")).json()
        return found if found["Status"] != 0 else None

    installation = await until(over)
    assert installation is not None
    return (await application.reader.get(path)).json(), installation


def endpoint_body(name: str, api: str, configuration: Any, host: str | None = None, **fields: Any) -> Entity:
    return {
        "Name": name,
        "ApiName": api,
        # Tests register further versions of the package.
        "ApiVersion": "1.0" if api == "fickle" else None,
        "Route": f"/{name}",
        "JsonConfiguration": msgspec.json.encode(configuration).decode(),
        "Requirements": [{"Identifier": "Host", "Value": host}] if host else [],
        **fields,
    }


async def make_endpoint(
    application: Application, name: str, api: str, configuration: Any, host: str | None = None, **fields: Any
) -> Entity:
    body = endpoint_body(name, api, configuration, host, **fields)
    answer = await application.operator.post("/integrations/endpoint", json=body)
    assert answer.status_code == 200, answer.text
    made: Entity = answer.json()
    return made


async def standing(application: Application, endpoint: Entity) -> Entity | None:
    """How it stands on the one agent that is to have it."""
    path = f"/agent/endpoint/{endpoint['Id']}/agents/currentStatus"
    found: list[Entity] = (await application.reader.get(path)).json()
    return found[0] if found else None


async def becomes(application: Application, endpoint: Entity, status: int) -> Entity:
    """Waits until it stands so on its agent."""

    async def so() -> Entity | None:
        found = await standing(application, endpoint)
        return found if found is not None and found["CurrentStatus"] == status else None

    found = await until(so)
    assert found is not None
    return found


def moves_of(found: Entity) -> list[str]:
    return [move["NewStatus"] for move in found["StatusUpdates"]]
