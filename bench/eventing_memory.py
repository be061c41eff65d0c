"""Memory of a server and its NATS while events are published and delivered; `EVENTS=1000000` for the whole run."""

import os
import tempfile
import time

import httpx
import psutil

from bench.delivery import Bench, sink
from bench.http_surface import penstock

TITLE = "Memory over a long run of events (resident MiB; it must not grow with their number)"

EVENTS = int(os.environ.get("EVENTS", "100000"))
STEPS = 10
BATCHES = 50
"""Batches of events on their way at a time."""


async def run() -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            penstock(folder, PENSTOCK_ALLOW_PRIVATE_ADDRESSES="true") as (port, key),
            sink() as sink_url,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers={"x-api-key": key}, timeout=60) as api,
            httpx.AsyncClient(timeout=60) as reports,
        ):
            bench = Bench(api, reports, sink_url)
            await bench.make_channels("ordered", 1, parallel=1)
            await bench.make_channels("parallel", 1, parallel=16)
            server = _listening(port)
            rows = [("before", _memory(server))]
            for step in range(1, STEPS + 1):
                began = time.monotonic()
                await bench.deliver(("ordered", "parallel"), EVENTS // STEPS, at_once=BATCHES)
                rate = EVENTS // STEPS / (time.monotonic() - began)
                rows.append((f"{EVENTS // STEPS * step:,} events", f"{_memory(server)}, {rate:,.0f} events/s"))
                print(f"  {rows[-1][0]:>20}  {rows[-1][1]}", flush=True)
            return rows


def _listening(port: int) -> psutil.Process:
    """The server: the child of this process that listens on the port."""
    for child in psutil.Process().children():
        if any(each.laddr.port == port for each in child.net_connections(kind="tcp") if each.status == "LISTEN"):
            return child
    raise RuntimeError(f"no child listens on {port}")


def _memory(server: psutil.Process) -> str:
    nats = next(child for child in server.children(recursive=True) if "nats-server" in child.name())
    return f"server {_resident(server)}, NATS {_resident(nats)}"


def _resident(process: psutil.Process) -> str:
    return f"{process.memory_info().rss / 2**20:,.0f}"
