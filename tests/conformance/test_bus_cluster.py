"""The bus on a cluster of three servers that run the printed configuration."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.bus.bus import Bus
from penstock.bus.configuration import server_configuration
from penstock.bus.consumer import Consumer, ConsumerSpec
from penstock.bus.credentials import BusKeys
from penstock.bus.message import Ack, Delivered
from penstock.bus.reader import StreamReader
from penstock.bus.server_process import ServerProcess
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.errors import Unavailable
from tests.nats_server import eventually, free_port

SIZE = 3


class Cluster:
    """Servers by their addresses."""

    def __init__(self, folder: Path, keys: BusKeys) -> None:
        self.keys = keys
        self.servers: dict[str, ServerProcess] = {}
        self._folder = folder
        self._routes = [free_port() for _ in range(SIZE)]

    async def start(self) -> None:
        for number, route in enumerate(self._routes):
            port = free_port()
            text = server_configuration(
                self.keys, host="127.0.0.1", port=port, store=self._folder / f"{number}", server_name=f"n{number}"
            )
            routes = ", ".join(f'"nats://127.0.0.1:{other}"' for other in self._routes)
            text += f'cluster {{ name: c, listen: "127.0.0.1:{route}", routes: [{routes}] }}\n'
            file = self._folder / f"{number}.conf"
            file.write_text(text)
            self.servers[f"nats://127.0.0.1:{port}"] = await ServerProcess.launch(file)
        for server in self.servers.values():
            await server.ready()

    async def connect(self, url: str) -> Bus:
        return await Bus.connect(url, self.keys.server_user(), name="test")

    def kill(self, url: str) -> None:
        os.kill(self.servers[url].pid, signal.SIGKILL)

    async def stop(self) -> None:
        for server in self.servers.values():
            await server.end()


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    cluster = Cluster(tmp_path, BusKeys.generate())
    try:
        await cluster.start()
        yield cluster
    finally:
        await cluster.stop()


async def ensure(bus: Bus, spec: StreamSpec) -> None:
    """The cluster has to elect its leader first."""
    async with asyncio.timeout(60):
        while True:
            try:
                await Streams(bus).ensure(spec)
                return
            except Unavailable:
                await asyncio.sleep(0.2)


async def test_a_server_that_dies_under_load_loses_nothing_and_stops_nobody(cluster: Cluster) -> None:
    first = next(iter(cluster.servers))
    handled: set[bytes] = set()

    async def handle(message: Delivered) -> None:
        handled.add(message.data)

    # Knows one address only; the others it learns from the cluster.
    async with await cluster.connect(first) as bus:
        await ensure(bus, StreamSpec(name="s", subjects=["s.>"], replicas=SIZE))
        spec = ConsumerSpec(stream="s", name="c", ack_seconds=3)
        consuming = asyncio.create_task(Consumer(bus, spec).run(handle))
        acks: dict[bytes, Ack] = {}
        stop = False

        async def publish(worker: int) -> None:
            number = 0
            while not stop:
                body = b"%d.%d" % (worker, number)
                acks[body] = await bus.publish("s.x", body, timeout=60)
                number += 1

        async with asyncio.TaskGroup() as group:
            for worker in range(8):
                group.create_task(publish(worker))
            await eventually(lambda: len(acks) > 200)
            cluster.kill(first)
            acknowledged = len(acks)
            await eventually(lambda: len(acks) > acknowledged + 200, 60)
            stop = True

        stored = await StreamReader(bus).after("s", 0, count=len(acks) + 100)
        assert {message.data for message in stored} >= acks.keys()
        assert len(stored) == len({message.data for message in stored})
        await eventually(lambda: handled >= acks.keys(), 60)
        consuming.cancel()
        await asyncio.wait([consuming])
