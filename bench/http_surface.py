"""The HTTP surface with authentication on, against a hand-written application on the same store."""

import asyncio
import os
import socket
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import msgspec

from bench.bare_http import KEY
from bench.load import apply_load, request_bytes

TITLE = "HTTP surface, ratio to hand-written Starlette and msgspec (1.00 is as fast)"
CONNECTIONS = (1, 16, 64)
SECONDS = 1.0
ROUNDS = 3
PASSWORD = "bench password for one run"


async def run() -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        async with bare(folder) as bare_port, penstock(folder) as (port, key):
            bare_headers, headers = {"x-api-key": KEY}, {"x-api-key": key}
            pairs = {
                "list of 100": (
                    request_bytes("GET", "/items", bare_headers),
                    request_bytes("GET", "/variables", headers),
                ),
                "single read": (
                    request_bytes("GET", "/items/item-5", bare_headers),
                    request_bytes("GET", "/variables/item-5", headers),
                ),
                "durable create": (
                    request_bytes("POST", "/items", bare_headers, b'{"Name":"x"}'),
                    request_bytes("POST", "/agents/create", headers, b'"pool"'),
                ),
            }
            rows = []
            for label, (bare_request, request) in pairs.items():
                for connections in CONNECTIONS:
                    ratio = await compare(bare_port, bare_request, port, request, connections)
                    rows.append((f"{label}, {connections} connections", f"{ratio:.2f}"))
            return rows


async def compare(bare_port: int, bare_request: bytes, port: int, request: bytes, connections: int) -> float:
    """The median over rounds that alternate, so that the machine's mood falls on both."""
    ratios = []
    for _ in range(ROUNDS):
        base = await apply_load(bare_port, bare_request, connections, SECONDS)
        ours = await apply_load(port, request, connections, SECONDS)
        ratios.append(ours.rate / base.rate)
    return statistics.median(ratios)


@asynccontextmanager
async def bare(folder: str) -> AsyncIterator[int]:
    port = free_port()
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.bare_http", folder, str(port))
    try:
        await answering(f"http://127.0.0.1:{port}/items")
        yield port
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def penstock(folder: str, **settings: str) -> AsyncIterator[tuple[int, str]]:
    """A server with 100 variables; its port and an API key. settings: of its environment."""
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "PENSTOCK_DATA": f"{folder}/penstock",
        "PENSTOCK_PORT": str(port),
        "PENSTOCK_ADMIN_PASSWORD": PASSWORD,
        "PENSTOCK_LOG_LEVEL": "warning",
        **settings,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import sys; from penstock.server.main import main; sys.exit(main())", env=environment
    )
    try:
        await answering(f"http://127.0.0.1:{port}/readyz")
        yield port, await prepared(port)
    finally:
        process.terminate()
        await process.wait()


async def prepared(port: int) -> str:
    """Fills the server and makes an Admin's API key."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        login = await client.post("/identity/login/username", json={"UserName": "admin", "Password": PASSWORD})
        client.headers["authorization"] = f"Bearer {login.json()['Token']}"
        documents = [
            {
                "apiVersion": "penstock/v1alpha1",
                "kind": "Variable",
                "metadata": {"name": f"item-{number}", "description": "An item"},
                "spec": {"value": "something"},
            }
            for number in range(100)
        ]
        text = "\n---\n".join(msgspec.json.encode(document).decode() for document in documents)
        (await client.put("/configuration", json=text)).raise_for_status()
        query = {"username": "admin", "name": "bench", "description": ""}
        answer = await client.post("/identity/apikey", params=query)
        return str(answer.raise_for_status().json())


async def answering(address: str) -> None:
    async with httpx.AsyncClient() as client:
        for _ in range(300):
            try:
                if (await client.get(address)).status_code in (200, 401):
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)
    raise RuntimeError(f"{address} does not answer")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
