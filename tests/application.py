"""The real application for tests: SQLite, embedded NATS and uvicorn on a free port, in a folder of its own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec

from penstock.kernel.clock import Clock
from penstock.server.first_start import prepare_first_start
from penstock.server.http import http_server, listening_socket
from penstock.server.platform import Platform, open_platform
from penstock.server.settings import ServerSettings, server_settings
from penstock.server.web import web_application
from penstock.server.workers import run_workers

ADMIN_PASSWORD = "correct horse battery staple"


class Application:
    """A running application. admin, operator, reader: clients with that role; anonymous: without credentials."""

    def __init__(self, platform: Platform, address: str) -> None:
        self.platform = platform
        self.address = address
        self.anonymous = self.client()
        self.admin = self.client()
        self.operator = self.client()
        self.reader = self.client()

    def client(self, **headers: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.address, headers=headers, timeout=30)

    async def client_for(self, username: str, password: str) -> httpx.AsyncClient:
        """A client that carries the user's access token."""
        answer = await self.anonymous.post(
            "/identity/login/username", json={"UserName": username, "Password": password}
        )
        assert answer.status_code == 200, answer.text
        return self.client(Authorization=f"Bearer {answer.json()['Token']}")

    async def log_in(self) -> None:
        self.admin = await self.client_for("admin", self.platform.settings.admin_password)
        self.operator = await self._user("operator@example.com", "Operator")
        self.reader = await self._user("reader@example.com", "Reader")

    async def _user(self, email: str, roles: str) -> httpx.AsyncClient:
        answer = await self.admin.post("/identity/user", json={"Email": email, "Roles": roles})
        if answer.status_code == 409:
            await self.admin.request("DELETE", "/identity/user", json=email)
            answer = await self.admin.post("/identity/user", json={"Email": email, "Roles": roles})
        return await self.client_for(email, answer.json()["Password"])

    async def apply(self, *documents: dict[str, Any]) -> httpx.Response:
        """Applies configuration documents (YAML is a superset of JSON)."""
        text = "\n---\n".join(msgspec.json.encode(document).decode() for document in documents)
        return await self.admin.put("/configuration", json=text)

    async def close(self) -> None:
        for client in (self.anonymous, self.admin, self.operator, self.reader):
            await client.aclose()


def settings_for(folder: Path, **overrides: str) -> ServerSettings:
    """Settings of a server in `folder`, on a free port, with quick agents."""
    environment = {
        "PENSTOCK_DATA": str(folder),
        "PENSTOCK_PORT": "0",
        "PENSTOCK_ADMIN_PASSWORD": ADMIN_PASSWORD,
        "PENSTOCK_PING_SECONDS": "0.5",
        "PENSTOCK_RESYNC_SECONDS": "1",
        "PENSTOCK_GRACE_SECONDS": "1",
        "PENSTOCK_ALLOW_PRIVATE_ADDRESSES": "true",
        "PENSTOCK_DELIVERY_RETRY_SECONDS": "0.02,0.03,0.03,0.03",
        **overrides,
    }
    return server_settings(environment)


@asynccontextmanager
async def running_application(folder: Path, clock: Clock | None = None, **overrides: str) -> AsyncIterator[Application]:
    """Starts the application and stops it again. overrides: environment settings."""
    settings = settings_for(folder, **overrides)
    with listening_socket(settings) as listener:
        port = listener.getsockname()[1]
        async with open_platform(settings, clock) as platform:
            await prepare_first_start(platform)
            server = http_server(web_application(platform), settings)
            serving = asyncio.create_task(server.serve([listener]))
            workers = asyncio.create_task(run_workers(platform.workers))
            application = Application(platform, f"http://127.0.0.1:{port}")
            try:
                await application.log_in()
                yield application
            finally:
                platform.stopping.set()
                await application.close()
                server.should_exit = True
                await serving
                workers.cancel()
                await asyncio.gather(workers, return_exceptions=True)
