"""Events from publish to an HTTP sink: how long they take, and how many a second; every write synced to disk."""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx
import msgspec

from bench.http_surface import answering, free_port, penstock
from bench.sink import Report

TITLE = "Delivery: from publish over HTTP to an HTTP sink"

ALONE = 300
BATCHES, BATCH = 40, 100
CHANNELS = (1, 20)
ROUNDS = 3


async def run() -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            penstock(folder, PENSTOCK_ALLOW_PRIVATE_ADDRESSES="true") as (port, key),
            sink() as sink_url,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers={"x-api-key": key}, timeout=60) as api,
            httpx.AsyncClient(timeout=60) as reports,
        ):
            bench = Bench(api, reports, sink_url)
            for kind, parallel in (("ordered", 1), ("parallel", 16)):
                for channels in CHANNELS:
                    await bench.make_channels(f"{kind}{channels}", channels, parallel)
            rows = [("latency of single events, ordered", await bench.latency("ordered1"))]
            for kind in ("ordered", "parallel"):
                for channels in CHANNELS:
                    label = f"{kind}, {channels} channel{'s' if channels > 1 else ''}"
                    rows.append((label, await bench.throughput(f"{kind}{channels}", channels)))
            return rows


class Bench:
    def __init__(self, api: httpx.AsyncClient, reports: httpx.AsyncClient, sink_url: str) -> None:
        self._api = api
        self._reports = reports
        self._sink = sink_url
        self._number = 0

    async def make_channels(self, type: str, count: int, parallel: int) -> None:
        """Channels that all get the events of one type."""
        for number in range(count):
            name = f"{type}-{number}"
            endpoint = {"Type": "http", "Version": "1", "Configuration": f'{{"url": "{self._sink}"}}', "Position": 0}
            channel = {"Name": name, "Configuration": f'{{"parallel": {parallel}}}', "Endpoints": [endpoint]}
            (await self._api.post("/api/EventHub/Channels", json=channel)).raise_for_status()
            subscription = {"ChannelName": name, "EventType": type}
            (await self._api.post("/api/EventHub/Subscriptions", json=subscription)).raise_for_status()

    async def latency(self, type: str) -> str:
        for _ in range(ALONE):
            await self._publish(type, 1)
            await asyncio.sleep(0.005)
        latencies = sorted((await self._received(ALONE)).latencies)
        return f"p50 {_ms(latencies[ALONE // 2])}, p99 {_ms(latencies[ALONE * 99 // 100])}"

    async def throughput(self, type: str, channels: int) -> str:
        rates = [await self._rate(type, channels) for _ in range(ROUNDS)]
        return f"{statistics.median(rates):,.0f}/s"

    async def _rate(self, type: str, channels: int) -> float:
        """Deliveries a second, from the first publish to the last arrival."""
        batches = max(BATCHES // channels, 4)
        began = time.monotonic_ns()
        for _ in range(batches):
            await self._publish(type, BATCH)
        count = batches * BATCH * channels
        return count / ((await self._received(count)).last - began) * 1e9

    async def deliver(self, types: Sequence[str], count: int, *, at_once: int) -> None:
        """Publishes so many events, of one type and the next, never more than so many batches ahead of the sink."""
        for began in range(0, count // BATCH, at_once):
            batches = range(began, min(began + at_once, count // BATCH))
            for batch in batches:
                await self._publish(types[batch % len(types)], BATCH)
            await self._received(len(batches) * BATCH)

    async def _publish(self, type: str, count: int) -> None:
        events = []
        for _ in range(count):
            self._number += 1
            events.append({"specversion": "1.0", "id": str(self._number), "source": "/bench", "type": type})
        now = time.monotonic_ns()
        body = msgspec.json.encode([{**event, "data": now} for event in events])
        headers = {"content-type": "application/cloudevents-batch+json"}
        (await self._api.post("/api/EventHub/Publish", content=body, headers=headers)).raise_for_status()

    async def _received(self, count: int) -> Report:
        """What the sink has received, once it is so many events."""
        while True:
            report = msgspec.json.decode((await self._reports.get(self._sink)).content, type=Report)
            if len(report.latencies) >= count:
                await self._reports.delete(self._sink)
                return report
            await asyncio.sleep(0.1)


def _ms(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e6:.1f} ms"


@asynccontextmanager
async def sink() -> AsyncIterator[str]:
    port = free_port()
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.sink", str(port))
    url = f"http://127.0.0.1:{port}/events"
    try:
        await answering(url)
        yield url
    finally:
        process.terminate()
        await process.wait()
