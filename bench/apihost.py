"""Requests to a hosted API, against the same ASGI application under bare uvicorn."""

import asyncio
import os
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from bench.hosted_app import BODY
from bench.http_surface import answering, compare, free_port
from bench.load import request_bytes

TITLE = "Hosted APIs, requests a second as a ratio to the same application under bare uvicorn (1.00 is as fast)"
CONNECTIONS = (1, 16, 64)
KEY = "a key for one run of the bench"


async def run() -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        wheels, environments = Path(folder) / "wheels", Path(folder) / "environments"
        made_wheel(wheels)
        async with (
            program("-m", "bench.hosted_app", path="/") as bare,
            program("-m", "bench.endpoint_front", after=(str(wheels), str(environments)), path="/bench") as agent,
            stand_alone(wheels, Path(folder) / "apihost") as (alone, initialize),
        ):
            base = request_bytes("GET", "/", {})
            request = request_bytes("GET", "/bench", {})
            rows = []
            for label, port in (("on an agent", agent), ("penstock apihost", alone)):
                for connections in CONNECTIONS:
                    ratio = await compare(bare, base, port, request, connections)
                    rows.append((f"{label}, {connections} connections", f"{ratio:.2f}"))
                rows.append((f"{label}, WebSocket echoes, 16 connections", f"{await compare_echoes(bare, port):.2f}"))
            rows.append(("initialize an endpoint whose package is installed", f"{initialize * 1000:.0f} ms"))
            return rows


async def compare_echoes(bare: int, port: int) -> float:
    """The median over rounds that alternate, of messages a second that come back."""
    ratios = []
    for _ in range(3):
        base = await echoes(bare, "/")
        ratios.append(await echoes(port, "/bench") / base)
    return statistics.median(ratios)


async def echoes(port: int, path: str, seconds: float = 1.0) -> float:
    async with asyncio.TaskGroup() as group:
        counts = [group.create_task(_echo(port, path, time.perf_counter() + seconds)) for _ in range(16)]
    return sum(count.result() for count in counts) / seconds


async def _echo(port: int, path: str, deadline: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    upgrade = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}
    writer.write(request_bytes("GET", path, {**upgrade, "sec-websocket-key": "YmVuY2hiZW5jaGJlbmNoIQ=="}))
    await reader.readuntil(b"\r\n\r\n")
    # A frame of RFC 6455 with 100 bytes, masked with zeros; what comes back is not masked.
    frame = b"\x82\xe4\0\0\0\0" + bytes(100)
    count = 0
    while time.perf_counter() < deadline:
        writer.write(frame)
        await reader.readexactly(102)
        count += 1
    writer.close()
    return count


@asynccontextmanager
async def program(*arguments: str, after: tuple[str, ...] = (), path: str, **environment: str) -> AsyncIterator[int]:
    """A program that listens on the port it is given; ready once the path answers 200."""
    port = free_port()
    command = [*arguments, str(port), *after]
    process = await asyncio.create_subprocess_exec(sys.executable, *command, env={**os.environ, **environment})
    try:
        await until_ready(f"http://127.0.0.1:{port}{path}")
        yield port
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def stand_alone(wheels: Path, folder: Path) -> AsyncIterator[tuple[int, float]]:
    """`penstock apihost` with the endpoint; its port, and the seconds that it took to initialize it."""
    port = free_port()
    settings = {"PORT": str(port), "KEY": KEY, "FOLDER": str(folder), "LOG_LEVEL": "error"}
    environment = {**os.environ, **{f"PENSTOCK_APIHOST_{name}": value for name, value in settings.items()}}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "penstock.cli.main", "apihost", env=environment
    )
    try:
        await answering(f"http://127.0.0.1:{port}/admin/api/status")
        address = f"http://127.0.0.1:{port}/admin/api"
        async with httpx.AsyncClient(headers={"X-API-Key": KEY}, timeout=60) as client:
            query = {"packageName": "penstock-bench-api", "version": "1.0", "feedUrl": f"file://{wheels}"}
            (await client.put(f"{address}/apis", params=query, json={})).raise_for_status()
            body = {"Api": {"Name": "bench"}, "Route": "/bench", "JsonConfiguration": {}}
            (await client.post(f"{address}/Endpoints", json=body)).raise_for_status()
            started = time.perf_counter()
            answer = await client.post(f"{address}/Endpoints/%2Fbench/initialize", json={})
            seconds = time.perf_counter() - started
            assert answer.json()["Status"] == "Ready", answer.text
        yield port, seconds
    finally:
        process.terminate()
        await process.wait()


async def until_ready(address: str) -> None:
    async with httpx.AsyncClient() as client:
        for _ in range(300):
            try:
                if (await client.get(address)).content == BODY:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)
    raise RuntimeError(f"{address} does not answer")


def made_wheel(folder: Path) -> None:
    """The application as a package, in a folder of wheels."""
    folder.mkdir()
    info = "penstock_bench_api-1.0.dist-info"
    files = {
        "penstock_bench_api.py": (Path(__file__).parent / "hosted_app.py").read_text(),
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: penstock-bench-api\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[penstock.apis]\nbench = penstock_bench_api:bench\n",
    }
    record = "".join(f"{name},,\n" for name in files)
    with zipfile.ZipFile(folder / "penstock_bench_api-1.0-py3-none-any.whl", "w") as archive:
        for name, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            archive.writestr(name, text)
