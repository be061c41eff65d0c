"""A gateway as a process of its own, beside a running application, and an API behind it."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil

from penstock.bus.credentials import BusKeys, UserCredential
from penstock.gateway.program import ADDRESS
from tests.application import Application
from tests.areas.waiting import until
from tests.http_sink import HttpSink
from tests.nats_server import free_port
from tests.program import PROGRAM, Ended

PATIENCE = 60.0


class GatewayProgram:
    """folder: of the gateway; it outlives runs, and so does its port."""

    def __init__(self, folder: Path, servers: str, credential: UserCredential, **settings: str) -> None:
        self.folder = folder
        self.port = free_port()
        self._settings = {
            "PENSTOCK_GATEWAY_FOLDER": str(folder / "gateway"),
            "PENSTOCK_GATEWAY_PORT": str(self.port),
            "PENSTOCK_GATEWAY_NATS_URL": servers,
            "PENSTOCK_GATEWAY_CREDENTIALS": str(folder / "gateway.creds"),
            "PENSTOCK_GATEWAY_ALLOW_PRIVATE_ADDRESSES": "true",
            "PENSTOCK_GATEWAY_LOG_LEVEL": "warning",
            **settings,
        }
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "gateway.creds").write_text(credential.file_text())
        self._process: asyncio.subprocess.Process | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self._process = await self._run(stdout=None)

    async def ready(self) -> None:
        """Returns when it serves at its address."""
        async with asyncio.timeout(PATIENCE):
            while not (self.folder / "gateway" / ADDRESS).exists():
                await asyncio.sleep(0.01)

    async def attempt(self) -> Ended:
        """A start that is to fail."""
        process = await self._run(stdout=asyncio.subprocess.PIPE)
        out, _ = await process.communicate()
        return Ended(process.returncode or 0, out.decode(), "")

    async def logged(self, api: str, calls: int) -> None:
        """Returns when Envoy has written so many calls of an API into its log."""
        log = self.folder / "gateway" / "envoy" / "access.log"
        async with asyncio.timeout(PATIENCE):
            while log.read_text().count(f'"route":"{api}/') < calls:
                await asyncio.sleep(0.005)

    async def stop(self) -> int:
        """Ends it in good order; answers its exit code."""
        assert self._process is not None
        self._process.terminate()
        return await self._process.wait()

    async def kill(self) -> None:
        """Returns when nothing of it is left."""
        if self._process is None or self._process.returncode is not None:
            return
        children = psutil.Process(self._process.pid).children(recursive=True)
        self._process.kill()
        await self._process.wait()
        async with asyncio.timeout(PATIENCE):
            while any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children):
                await asyncio.sleep(0.02)

    def kill_envoy(self) -> None:
        assert self._process is not None
        [envoy] = psutil.Process(self._process.pid).children()
        os.kill(envoy.pid, signal.SIGKILL)

    async def _run(self, stdout: int | None) -> asyncio.subprocess.Process:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
        return await asyncio.create_subprocess_exec(
            *PROGRAM,
            "gateway",
            env={**environment, **self._settings},
            cwd=self.folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=stdout,
            stderr=asyncio.subprocess.STDOUT if stdout is not None else sys.stderr,
            start_new_session=True,
        )


class GatewayCaller:
    """Somebody who calls an address with a key."""

    def __init__(self, address: str, key: str) -> None:
        self._address = address
        self._key = key

    async def call(self, key: str | None = None) -> int:
        """The status; 0 when there was none."""
        try:
            async with httpx.AsyncClient(timeout=5) as client:
                return (await client.get(self._address, headers={"X-API-Key": key or self._key})).status_code
        except httpx.TransportError:
            return 0

    async def gets(self, status: int) -> int:
        """Returns once a call gets the status; how many calls found the version, this one included."""
        found = 0
        async with asyncio.timeout(PATIENCE):
            while (got := await self.call()) != status:
                found += got not in (0, 404)
                await asyncio.sleep(0.05)
        return found + 1


class PublishedApi:
    """An API with one version, v1, that an upstream of the test serves, and a subscription with a key."""

    def __init__(self, application: Application, name: str, upstream: HttpSink) -> None:
        self.application = application
        self.name = name
        self.upstream = upstream
        self.key = ""

    async def publish(self, **parameters: Any) -> None:
        """parameters: of the subscription."""
        url = f"http://127.0.0.1:{self.upstream.port}"
        await self._make("/apim/apis", Name=self.name)
        version = {
            "ApiName": self.name,
            "Version": "v1",
            "IsActive": True,
            "Type": "address",
            "Parameters": {"Url": url},
        }
        await self._make("/apim/apiversions", **version)
        subscription = {"Name": self.name, "Type": "apikey", "Apis": [self.name], "Parameters": parameters}
        self.key = (await self._make("/apim/subscriptions", **subscription))["Key"]

    def caller(self, address: str, key: str | None = None) -> "GatewayCaller":
        """Calls it through the gateway at an address."""
        return GatewayCaller(f"{address}/{self.name}/v1/things", self.key if key is None else key)

    async def call(self, address: str, key: str | None = None) -> int:
        return await self.caller(address, key).call()

    async def answers(self, address: str, status: int = 204, key: str | None = None) -> int:
        return await self.caller(address, key).gets(status)

    async def counted(self, calls: int, application: Application | None = None) -> dict[str | None, int]:
        """Calls by subscription, once so many are counted and the stream has nothing more."""

        async def found() -> dict[str | None, int]:
            answer = await (application or self.application).reader.get("/apim/usage", params={"Api": self.name})
            rows: dict[str | None, int] = {row["Subscription"]: row["Calls"] for row in answer.json()}
            return rows if sum(rows.values()) >= calls else {}

        return await until(found, PATIENCE)

    async def _make(self, path: str, **body: Any) -> dict[str, Any]:
        answer = await self.application.admin.post(path, json=body)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made


@asynccontextmanager
async def gateway_program(
    application: Application, folder: Path, name: str, **settings: str
) -> AsyncIterator[GatewayProgram]:
    """Not started yet; ended with the context."""
    keys, nats = application.platform.container.get(BusKeys), application.platform.nats
    assert nats is not None
    program = GatewayProgram(folder, nats.url, keys.gateway_user(name, None), **settings)
    try:
        yield program
    finally:
        await program.kill()
