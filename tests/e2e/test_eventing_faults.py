"""Events flow while server, NATS and sink are killed; every one that was acknowledged must have arrived somewhere.

`FAULT_EVENTS=100000 python -m pytest tests/e2e/test_eventing_faults.py` runs it with as many events.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from tests.areas.waiting import until
from tests.nats_server import free_port
from tests.program import PROGRAM

EVENTS = int(os.environ.get("FAULT_EVENTS", "600"))
BATCH = 20
KILLS_EVERY = min(max(EVENTS // BATCH // 12, 4), 100)
"""Batches between two kills."""
PASSWORD = "one password for the faults"
CHANNELS = {"ordered": 1, "parallel": 8}
TYPE = "fault.test"

pytestmark = pytest.mark.timeout(120 + EVENTS // 20)


class Site:
    """Server (with the NATS server that it starts) and sink, each a process that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.sink_port = free_port()
        self.received = folder / "received"
        self._processes: dict[str, asyncio.subprocess.Process] = {}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start_server(self) -> None:
        await self._start(
            "server",
            *PROGRAM,
            "serve",
            PENSTOCK_DATA=str(self.folder / "data"),
            PENSTOCK_PORT=str(self.port),
            PENSTOCK_ADMIN_PASSWORD=PASSWORD,
            PENSTOCK_ALLOW_PRIVATE_ADDRESSES="true",
            PENSTOCK_DELIVERY_RETRY_SECONDS="0.1,0.3,1,2",
            PENSTOCK_LOG_LEVEL="warning",
        )

    async def start_sink(self) -> None:
        await self._start("sink", sys.executable, "-m", "tests.http_sink", str(self.sink_port), str(self.received))

    async def kill_server(self) -> None:
        """NATS goes with it."""
        await self._kill("server")
        await self.start_server()

    async def kill_sink(self) -> None:
        await self._kill("sink")
        await self.start_sink()

    async def kill_nats(self) -> None:
        """The server starts it again."""
        pid = self.folder / "data" / "nats" / "nats-server.pid"
        with contextlib.suppress(ProcessLookupError, FileNotFoundError, ValueError):  # it is being started just now
            os.kill(int(pid.read_text()), signal.SIGKILL)

    async def end(self) -> None:
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            await asyncio.wait_for(process.wait(), 20)

    async def _start(self, name: str, *command: str, **environment: str) -> None:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("PENSTOCK_")}
        with (self.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = await asyncio.create_subprocess_exec(
                *command, env={**inherited, **environment}, stdout=log, stderr=log
            )

    async def _kill(self, name: str) -> None:
        process = self._processes.pop(name)
        process.kill()
        await process.wait()


class Publisher:
    """Publishes until it is acknowledged, as a careful client does: the same events again after a failure."""

    def __init__(self, site: Site) -> None:
        self.client = httpx.AsyncClient(base_url=site.address, timeout=20)
        self.acknowledged: list[str] = []

    async def log_in(self) -> None:
        async def attempt() -> str | None:
            answer = await self.request(
                "POST", "/identity/login/username", json={"UserName": "admin", "Password": PASSWORD}
            )
            return answer.json()["Token"] if answer else None

        self.client.headers["authorization"] = f"Bearer {await until(attempt, 60)}"

    async def request(self, method: str, path: str, **options: Any) -> httpx.Response | None:
        """The answer; None when there is none, or a 5xx."""
        try:
            answer = await self.client.request(method, path, **options)
        except httpx.TransportError:
            return None
        return answer if answer.status_code < 500 else None

    async def publish(self, ids: list[str]) -> None:
        events = [{"specversion": "1.0", "id": id, "source": "/faults", "type": TYPE} for id in ids]
        body = msgspec.json.encode(events)
        headers = {"content-type": "application/cloudevents-batch+json"}

        async def attempt() -> bool:
            answer = await self.request("POST", "/api/EventHub/Publish", content=body, headers=headers)
            assert answer is None or answer.status_code == 200, answer.text
            return answer is not None

        await until(attempt, 60)
        self.acknowledged += ids

    async def get(self, path: str) -> Any:
        async def attempt() -> httpx.Response | None:
            return await self.request("GET", path)

        answer = await until(attempt, 60)
        assert answer is not None
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    running = Site(tmp_path)
    await running.start_sink()
    await running.start_server()
    try:
        yield running
    finally:
        await running.end()


@pytest.fixture
async def publisher(site: Site) -> AsyncIterator[Publisher]:
    logged_in = Publisher(site)
    await logged_in.log_in()
    yield logged_in
    await logged_in.client.aclose()


async def test_what_was_acknowledged_is_delivered_or_a_dead_letter_whatever_is_killed(
    site: Site, publisher: Publisher
) -> None:
    for name, parallel in CHANNELS.items():
        await make_channel(site, publisher, name, parallel)
    kills = [site.kill_sink, site.kill_nats, site.kill_server]
    batches = [[str(n) for n in range(first, first + BATCH)] for first in range(0, EVENTS, BATCH)]
    async with asyncio.TaskGroup() as killing:
        for number, ids in enumerate(batches):
            if number % KILLS_EVERY == KILLS_EVERY - 1:
                killing.create_task(kills[number // KILLS_EVERY % len(kills)]())
            await publisher.publish(ids)
    assert len(publisher.acknowledged) == EVENTS
    for name in CHANNELS:
        await delivered(publisher, name)
    received = received_by(site)
    for name in CHANNELS:
        dead = await dead_letters(publisher, name)
        arrived = {id for id, _ in received[name]}
        assert set(publisher.acknowledged) - arrived - dead == set(), f"lost on the way to {name}"
        assert len(received[name]) >= len(arrived)
        for id in arrived:
            webhook_ids = {webhook_id for other, webhook_id in received[name] if other == id}
            assert len(webhook_ids) == 1, f"the event {id} came under several ids"
    first_arrivals = list(dict.fromkeys(int(id) for id, _ in received["ordered"]))
    assert first_arrivals == sorted(first_arrivals)


async def make_channel(site: Site, publisher: Publisher, name: str, parallel: int) -> None:
    url = f"http://127.0.0.1:{site.sink_port}/{name}"
    endpoint = {"Type": "http", "Version": "1", "Configuration": f'{{"url": "{url}"}}', "Position": 0}
    channel = {"Name": name, "Configuration": f'{{"parallel": {parallel}}}', "Endpoints": [endpoint]}
    for path, body in (
        ("/api/EventHub/Channels", channel),
        ("/api/EventHub/Subscriptions", {"ChannelName": name, "EventType": TYPE}),
    ):
        answer = await publisher.request("POST", path, json=body)
        assert answer is not None
        assert answer.status_code == 201, answer.text


async def delivered(publisher: Publisher, channel: str) -> None:
    """Returns once the channel has everything and nothing waits there."""

    async def idle() -> bool:
        state = await publisher.get(f"/eventing/deliveries/{channel}")
        stream = next(s for s in await publisher.get("/eventing/streams") if s["Name"] == f"eventchannel-{channel}")
        return stream["Messages"] >= EVENTS and state["Waiting"] == state["InHand"] == 0

    await until(idle, 60 + EVENTS / 50)


async def dead_letters(publisher: Publisher, channel: str) -> set[str]:
    ids: set[str] = set()
    while True:
        page = await publisher.get(f"/eventing/deadletters/{channel}?Count=1000&Skip={len(ids)}")
        if not page:
            return ids
        ids |= {letter["EventId"] for letter in page}


def received_by(site: Site) -> dict[str, list[tuple[str, str]]]:
    """For each channel the ids of events and the `webhook-id`s with them, in the order of arrival."""
    received: dict[str, list[tuple[str, str]]] = {name: [] for name in CHANNELS}
    for line in site.received.read_text().splitlines():
        path, webhook_id, id = line.split(" ")
        received[path.removeprefix("/")].append((id, webhook_id))
    return received
