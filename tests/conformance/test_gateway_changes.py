"""Tables that change while a real Envoy serves, and what is left of it when processes die."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from penstock.gateway.envoy.refusal import TableRefused
from penstock.kernel.errors import Unavailable
from penstock.protocol.gateway import GatewayRate
from tests.conformance.running_gateway import KEY, PATH, Served, served, subscription, version
from tests.http_sink import HttpSink, Reply, http_sink
from tests.nats_server import eventually

_CHANGES = 100


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[tuple[Served, HttpSink]]:
    async with http_sink() as upstream, served(tmp_path / "envoy", WORKERS="2") as gateway:
        yield gateway, upstream


async def test_nobody_is_let_in_before_the_first_table(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    port = int(gateway.gateway.address.rpartition(":")[2])
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)

    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1")])

    assert await gateway.status(PATH, KEY) == 204


async def test_a_hundred_changes_cost_no_call(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    upstream.answer = lambda request: Reply(pause=0.02)
    statuses: list[int] = []
    done = asyncio.Event()

    async def call() -> None:
        while not done.is_set():
            statuses.append(await gateway.status(PATH, KEY))

    async with http_sink() as second:
        second.answer = upstream.answer
        await gateway.apply([version(upstream.port)], [subscription("acme", "k-1")])
        async with asyncio.TaskGroup() as group:
            for _ in range(4):
                group.create_task(call())
            for count in range(_CHANGES):
                # The upstream, others' routes, headers, limits and clusters all change.
                port = (upstream, second)[count % 2].port
                others = [version(port, path=f"/other{number}/v1") for number in range(count % 5)]
                rate = GatewayRate(calls=100_000 + count % 3, seconds=1)
                known = subscription("acme", "k-1", f"k-{count}", headers={"X-Count": str(count)}, rate=rate)
                await gateway.apply([version(port), *others], [known])
            done.set()

    assert len(statuses) > _CHANGES
    assert set(statuses) == {204}


async def test_a_table_that_envoy_refuses_is_named_and_the_one_before_serves_on(
    world: tuple[Served, HttpSink],
) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1")])

    for versions, subscriptions, named in (
        ([version(99_999)], [], "clusters: orders/v1"),
        ([version(upstream.port)], [subscription("bolt", "k-2", headers={"X-A": "b\n"})], "routes: orders/v1/bolt"),
    ):
        with pytest.raises(TableRefused, match=named):
            await gateway.apply(versions, subscriptions)
        assert named in (gateway.gateway.problem or "")
        assert await gateway.status(PATH, KEY) == 204

    await gateway.apply([version(upstream.port)], [])
    assert gateway.gateway.problem is None
    assert await gateway.status(PATH, KEY) == 401


async def test_a_first_table_that_envoy_refuses_lets_nobody_in(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    with pytest.raises(TableRefused):
        await gateway.apply([version(99_999)], [])

    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1")])

    assert await gateway.status(PATH, KEY) == 204


async def test_no_file_shows_keys_to_others(world: tuple[Served, HttpSink], tmp_path: Path) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1")])
    await gateway.get(f"{PATH}?token=secret", KEY)

    folder = tmp_path / "envoy"
    assert folder.stat().st_mode & 0o077 == 0
    await eventually(lambda: b"orders/v1/acme" in gateway.gateway.access_log.read_bytes())
    line = gateway.gateway.access_log.read_bytes()
    assert b"k-1" not in line
    assert b"secret" not in line


async def test_an_envoy_that_was_killed_comes_back_with_the_same_table(world: tuple[Served, HttpSink]) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1")])
    address, pid = gateway.gateway.address, gateway.gateway.pid

    os.kill(pid, signal.SIGKILL)
    await eventually(lambda: gateway.gateway.pid != pid)
    await _until_it_listens(gateway)

    assert gateway.gateway.address == address
    assert await gateway.status(PATH, KEY) == 204
    assert await gateway.status(PATH) == 401
    await gateway.apply([version(upstream.port)], [])
    assert await gateway.status(PATH, KEY) == 401


async def test_a_table_that_comes_while_envoy_is_away_is_served_when_it_is_back(
    world: tuple[Served, HttpSink],
) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port)], [subscription("acme", "k-1")])

    os.kill(gateway.gateway.pid, signal.SIGKILL)
    await gateway.apply([version(upstream.port)], [subscription("bolt", "k-2")])

    assert await gateway.status(PATH, {"X-API-Key": "k-2"}) == 204
    assert await gateway.status(PATH, KEY) == 401


async def test_two_gateways_do_not_share_a_port(world: tuple[Served, HttpSink], tmp_path: Path) -> None:
    gateway, upstream = world
    await gateway.apply([version(upstream.port)], [])

    with pytest.raises(Unavailable, match="cannot listen"):
        async with served(tmp_path / "second", PORT=gateway.gateway.address.rpartition(":")[2]):
            pass


_PARENT = """
import asyncio, sys
from pathlib import Path
from penstock.gateway.envoy.gateway import Gateway
from penstock.gateway.settings import gateway_settings

async def main():
    async with Gateway(gateway_settings({"PENSTOCK_GATEWAY_PORT": "0"}), Path(sys.argv[1])) as gateway:
        print(gateway.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_envoy_ends_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", _PARENT, str(tmp_path / "envoy")),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert parent.stdout is not None
    lines = [await parent.stdout.readline() for _ in range(2)]
    pid = int(next(line for line in lines if line.strip().isdigit()))
    assert psutil.pid_exists(pid)

    parent.kill()
    await parent.wait()

    await eventually(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


async def _until_it_listens(gateway: Served) -> None:
    port = int(gateway.gateway.address.rpartition(":")[2])
    async with asyncio.timeout(20):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except ConnectionRefusedError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return
