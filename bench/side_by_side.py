"""One job, HTTP in and HTTP out to the same sink, here and in Node-RED.

Node-RED comes from the folder that NODE_RED names (`npm install node-red` in it). It answers before it has sent the
event, keeps nothing and forgets what fails; Penstock has written each event to disk, twice, before it answers.
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import msgspec

from bench.delivery import sink
from bench.http_surface import answering, free_port, penstock
from bench.load import answer_of, apply_load, request_bytes
from bench.sink import Report

TITLE = "Side by side: HTTP in, HTTP out to the same sink"

ALONE = 200
SECONDS = 3.0
CONNECTIONS = 16
ROUNDS = 3


async def run() -> list[tuple[str, str]]:
    folder = Path(os.environ.get("NODE_RED", ""))
    program = folder / "node_modules" / ".bin" / "node-red"
    if not os.environ.get("NODE_RED") or not program.exists():
        return [("skipped", "NODE_RED does not name a folder with Node-RED: npm install node-red")]
    if shutil.which("node") is None:
        return [("skipped", "there is no node on the PATH")]
    with tempfile.TemporaryDirectory() as work:
        async with (
            sink() as sink_url,
            ours(Path(work), sink_url) as own,
            node_red(program, Path(work), sink_url) as red,
        ):
            return await compared(sink_url, {"Penstock": own, "Node-RED": red})


class Job:
    """Where the job takes its events."""

    def __init__(self, port: int, path: str) -> None:
        self.port = port
        self._path = path

    def request(self) -> bytes:
        """An event that carries the present time, which the sink compares with its arrival."""
        body = b'{"data":%d}' % time.monotonic_ns()
        return request_bytes("POST", self._path, {}, body)


async def compared(sink_url: str, jobs: dict[str, Job]) -> list[tuple[str, str]]:
    """Rounds alternate, so that the machine's mood falls on all."""
    latencies: dict[str, list[int]] = {name: [] for name in jobs}
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in jobs}
    async with httpx.AsyncClient(timeout=60) as reports:
        for _ in range(ROUNDS):
            for name, job in jobs.items():
                latencies[name] += await alone(job, reports, sink_url)
                rates[name].append(await loaded(job, reports, sink_url))
    rows = []
    for name in jobs:
        ordered = sorted(latencies[name])
        p50, p99 = (ordered[len(ordered) * percent // 100] / 1e6 for percent in (50, 99))
        taken, delivered = (sorted(each)[ROUNDS // 2] for each in zip(*rates[name], strict=True))
        rows.append((f"{name}, one at a time", f"p50 {p50:.1f} ms, p99 {p99:.1f} ms from request to sink"))
        rows.append((f"{name}, {CONNECTIONS} connections", f"{taken:,.0f}/s accepted, {delivered:,.0f}/s at the sink"))
    return rows


async def alone(job: Job, reports: httpx.AsyncClient, sink_url: str) -> list[int]:
    """Nanoseconds that single events take."""
    reader, writer = await asyncio.open_connection("127.0.0.1", job.port)
    for _ in range(ALONE):
        writer.write(job.request())
        await answer_of(reader)
        await asyncio.sleep(0.005)
    writer.close()
    return (await received(reports, sink_url, ALONE)).latencies


async def loaded(job: Job, reports: httpx.AsyncClient, sink_url: str) -> tuple[float, float]:
    """Requests answered and events delivered a second."""
    began = time.monotonic_ns()
    load = await apply_load(job.port, job.request, CONNECTIONS, SECONDS)
    report = await received(reports, sink_url, load.requests)
    return load.rate, len(report.latencies) / (report.last - began) * 1e9


async def received(reports: httpx.AsyncClient, sink_url: str, count: int) -> Report:
    """What the sink has received, once that is so many events or no more come."""
    before = -1
    while True:
        report = msgspec.json.decode((await reports.get(sink_url)).content, type=Report)
        if len(report.latencies) >= count or len(report.latencies) == before:
            await reports.delete(sink_url)
            return report
        before = len(report.latencies)
        await asyncio.sleep(1.0)


@asynccontextmanager
async def ours(work: Path, sink_url: str) -> AsyncIterator[Job]:
    """A webhook, and a channel whose endpoint is the sink."""
    documents = [
        _document("Webhook", {"authentication": {"type": "open"}, "eventType": "bench.measured"}),
        _document(
            "EventChannel",
            {
                "parallel": 16,
                "components": [{"type": "transform", "configuration": {"data": "${data.data}"}}],
                "endpoints": [{"type": "http", "configuration": {"url": sink_url}}],
            },
        ),
        _document("EventSubscription", {"channel": "bench", "eventType": "bench.measured"}),
    ]
    async with penstock(str(work), PENSTOCK_ALLOW_PRIVATE_ADDRESSES="true") as (port, key):
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers={"x-api-key": key}) as api:
            text = "\n---\n".join(msgspec.json.encode(document).decode() for document in documents)
            (await api.put("/configuration", json=text)).raise_for_status()
        yield Job(port, "/webhooks/bench")


def _document(kind: str, spec: object) -> dict[str, object]:
    return {"apiVersion": "penstock/v1alpha1", "kind": kind, "metadata": {"name": "bench"}, "spec": spec}


@asynccontextmanager
async def node_red(program: Path, work: Path, sink_url: str) -> AsyncIterator[Job]:
    """A flow: `http in` to `http response` and to `http request`."""
    folder = work / "node-red"
    folder.mkdir()
    (folder / "flows.json").write_bytes(msgspec.json.encode(_flow(sink_url)))
    (folder / "settings.js").write_text(
        'module.exports = {flowFile: "flows.json", uiHost: "127.0.0.1", httpAdminRoot: "/admin",'
        ' logging: {console: {level: "error"}}, telemetry: {enabled: false, updateNotification: false}};'
    )
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        str(program), "--userDir", str(folder), "--port", str(port), stdout=asyncio.subprocess.DEVNULL
    )
    try:
        await answering(f"http://127.0.0.1:{port}/ready")
        yield Job(port, "/bench")
    finally:
        process.terminate()
        await process.wait()


def _flow(sink_url: str) -> list[dict[str, object]]:
    return [
        {"id": "tab", "type": "tab", "label": "bench"},
        {"id": "in", "type": "http in", "z": "tab", "url": "/bench", "method": "post", "wires": [["answer", "out"]]},
        {"id": "answer", "type": "http response", "z": "tab", "statusCode": "200", "wires": []},
        {
            "id": "out",
            "type": "http request",
            "z": "tab",
            "method": "POST",
            "ret": "txt",
            "url": sink_url,
            "persist": True,
            "wires": [[]],
        },
        {"id": "ready", "type": "http in", "z": "tab", "url": "/ready", "method": "get", "wires": [["answer"]]},
    ]
