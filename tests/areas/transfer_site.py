"""An agent of its own with folders of its own, and what it is told to move."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.application import Application
from tests.areas.waiting import until
from tests.storage_server import StorageServer, storage_server

PATH = "/integrations/mfts"


class Site:
    """An agent of its own, the folders that it may use, and what it is told to move."""

    def __init__(self, application: Application, folder: Path, name: str) -> None:
        self.application = application
        self.files = folder / "files"
        self.name = name
        self.process: asyncio.subprocess.Process | None = None
        self._folder = folder / "agent"
        self._token = ""

    async def start(self) -> None:
        self.files.mkdir(exist_ok=True)
        if not self._token:
            answer = await self.application.admin.post("/agents/create", json="")
            self._token = answer.json()["Token"]
        settings = {
            "FOLDER": str(self._folder),
            "SERVER": self.application.address,
            "TOKEN": self._token,
            "NAME": self.name,
            "CAPABILITIES": f"Site={self.name}",
            "LOCAL_FOLDERS": str(self.files),
            "ALLOW_PRIVATE_ADDRESSES": "true",
            "TIMEZONE": "UTC",
        }
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "penstock.agent",
            env={**os.environ, **{f"PENSTOCK_AGENT_{key}": value for key, value in settings.items()}},
            stderr=asyncio.subprocess.DEVNULL,
        )

    async def end(self, *, kill: bool = False) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.kill() if kill else self.process.terminate()
            await self.process.wait()

    @property
    def kept(self) -> Path:
        return self._folder

    async def storage(self, server: StorageServer) -> str:
        name = f"{server.type}-{self.name}"
        system = {"Name": name, "Category": "storage", "Type": server.type, "Variables": dict(server.variables)}
        answer = await self.application.operator.put("/integrations/coresystems", json=system)
        assert answer.status_code == 200, answer.text
        return name

    async def save(self, source: StorageServer, destination: StorageServer, **fields: Any) -> None:
        body = {
            "Name": self.name,
            "Command": "copy",
            "Source": {"Name": await self.storage(source), "Path": source.root},
            "Destination": {"Name": await self.storage(destination), "Path": destination.root},
            "Requirements": [{"Identifier": "Site", "Value": self.name}],
            "Args": "--retries 1",
            **fields,
        }
        answer = await self.application.operator.put(PATH, json=body)
        assert answer.status_code == 201, answer.text

    async def order(self, **query: str) -> None:
        answer = await self.application.operator.post(f"{PATH}/{self.name}/run", params=query)
        assert answer.status_code == 202, answer.text

    async def runs(self) -> list[dict[str, Any]]:
        answer = await self.application.reader.get(f"{PATH}/history", params={"MftName": self.name})
        found: list[dict[str, Any]] = answer.json()
        return found

    async def ended(self, runs: int = 1) -> dict[str, Any]:
        """The latest run, once so many have ended."""

        async def enough() -> list[dict[str, Any]] | None:
            found = await self.runs()
            return found if len(found) >= runs else None

        found = await until(enough)
        assert found is not None
        return found[0]

    async def progress(self) -> dict[str, Any]:
        """On the agent; empty until it is there."""
        found = (await self.application.reader.get(f"{PATH}/{self.name}/progress")).json()
        return dict(*found)

    async def online(self) -> None:
        """Returns when the agent has told of the transfer."""

        async def told() -> bool:
            return (await self.progress()).get("Reported") is not None

        await until(told)

    async def runs_now(self) -> None:
        async def running() -> bool:
            return (await self.progress()).get("Run") is not None

        await until(running)


@asynccontextmanager
async def local(site: Site, folder: str) -> AsyncIterator[StorageServer]:
    async with storage_server("local", site.files / folder) as server:
        yield server


SIZE = 300_000


class Slow:
    """Begins a transfer that takes half a minute."""

    def __init__(self, site: Site, source: StorageServer, destination: StorageServer) -> None:
        self._site = site
        self.sides = source, destination

    async def __call__(self) -> None:
        await self._site.save(*self.sides, Args="--retries 1 --bwlimit 10k")
        await self._site.order()
        await self._site.runs_now()


@asynccontextmanager
async def slow(site: Site) -> AsyncIterator[Slow]:
    async with local(site, "in") as source, local(site, "out") as destination:
        (source.folder / "large").write_bytes(os.urandom(SIZE))
        yield Slow(site, source, destination)
