"""The API gateway: calls beside an Envoy configured by hand, and changes of a large table under load."""

import asyncio
import os
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from bench.bare_envoy import Running, by_hand, upstream
from bench.load import Load, apply_load, request_bytes
from penstock.gateway.envoy.gateway import Gateway
from penstock.gateway.settings import gateway_settings
from penstock.protocol.gateway import (
    Access,
    GatewayConnection,
    GatewayHost,
    GatewayKey,
    GatewaySubscription,
    GatewayTable,
    GatewayUpstream,
    GatewayVersion,
)
from penstock.server.log import set_up_logs

TITLE = "API gateway, one thread: calls with a key beside an Envoy configured by hand (1.00 is as fast), and changes"
CONNECTIONS = (1, 32)
SECONDS = 2.0
ROUNDS = 5
APIS, SUBSCRIPTIONS = 1000, 10_000
CHANGES = 100
KEY = "psk_bench_0000000000000000000000000000000000000"
_PATH = "/bench/v1/lamps"
_FEW = 4


async def run() -> list[tuple[str, str]]:
    set_up_logs("console", "error")
    settings = gateway_settings(
        {"PENSTOCK_GATEWAY_PORT": "0", "PENSTOCK_GATEWAY_WORKERS": "1", "PATH": os.environ["PATH"]}
    )
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            sink = await stack.enter_async_context(upstream(Path(folder)))
            hand = await stack.enter_async_context(by_hand(Path(folder), KEY, sink.port))
            gateway = await stack.enter_async_context(Gateway(settings, Path(folder) / "gateway"))
            await gateway.apply(table(sink.port, apis=1, subscriptions=1))
            ours = Running(urlsplit(gateway.address).port or 0, gateway.pid or 0)
            rows = await compared({"the upstream alone": sink, "Envoy by hand": hand, "the gateway": ours})
            return [*rows, *await changed(gateway, ours.port, sink.port)]


def table(upstream_port: int, *, apis: int, subscriptions: int, key: str = KEY) -> GatewayTable:
    """The API `bench` and others; each subscription may call three of them, the first one `bench` with the key."""
    upstream = GatewayUpstream(hosts=[GatewayHost(host="127.0.0.1", port=upstream_port)])
    names = ["bench", *(f"api-{number}" for number in range(1, apis))]
    versions = [
        GatewayVersion(api=name, version="v1", path=f"/{name}/v1", upstream=upstream, connection=GatewayConnection())
        for name in names
    ]
    keys = [key, *(f"{KEY}-{number}" for number in range(1, subscriptions))]
    made = [
        GatewaySubscription(
            name=f"subscription-{number}",
            type=Access.API_KEY,
            paths=sorted({f"/{names[(number * step) % apis]}/v1" for step in (1, 7, 13)}),
            keys=[GatewayKey(key=own)],
        )
        for number, own in enumerate(keys)
    ]
    return GatewayTable(versions=versions, subscriptions=made)


async def compared(running: dict[str, Running]) -> list[tuple[str, str]]:
    """Rounds alternate, so that the machine's mood falls on all."""
    request = request_bytes("GET", _PATH, {"x-api-key": KEY})
    rows = []
    for connections in CONNECTIONS:
        loads: dict[str, list[Load]] = {name: [] for name in running}
        costs: dict[str, list[float]] = {name: [] for name in running}
        for _ in range(ROUNDS):
            for name, each in running.items():
                before = _processor_seconds(each.pid)
                loads[name].append(await apply_load(each.port, request, connections, SECONDS))
                costs[name].append((_processor_seconds(each.pid) - before) / loads[name][-1].requests)
        rows += _told(loads, connections)
        _, hand, ours = (statistics.median(each) for each in costs.values())
        told = f"{hand / ours:.2f} ({ours * 1e6:.0f} against {hand * 1e6:.0f} microseconds of the processor a call)"
        rows.append((f"ratio of what calls cost, {connections} connections", told))
    return rows


def _told(loads: dict[str, list[Load]], connections: int) -> list[tuple[str, str]]:
    alone, hand, ours = loads.values()
    rows = [
        (
            f"{name}, {connections} connections",
            f"{statistics.median(each.rate for each in found):,.0f}/s, "
            f"p99 {statistics.median(each.percentile(99) for each in found) * 1000:.2f} ms",
        )
        for name, found in loads.items()
    ]
    for label, base in (("by hand", hand), ("the upstream alone", alone)):
        ratio = statistics.median(one.rate / other.rate for one, other in zip(ours, base, strict=True))
        rows.append((f"ratio to {label}, {connections} connections", f"{ratio:.2f}"))
    return rows


async def changed(gateway: Gateway, port: int, sink: int) -> list[tuple[str, str]]:
    """A large table: what it takes, how soon a change is in force, and what callers see of changes."""
    before = _memory(gateway)
    full = table(sink, apis=APIS, subscriptions=SUBSCRIPTIONS)
    began = time.perf_counter()
    await gateway.apply(full)
    first = time.perf_counter() - began
    times = [await _until_in_force(gateway, port, sink, number) for number in range(_FEW)]
    with_many = _memory(gateway)
    await gateway.apply(table(sink, apis=1, subscriptions=1))
    loads = await _while_changing(gateway, port, sink)
    failures = sum(len(each.failures) for each in loads)
    calls = sum(each.requests for each in loads)
    return [
        (f"the first table of {APIS} APIs and {SUBSCRIPTIONS} subscriptions", f"{first:.1f} s"),
        ("a change of it, until the first changed answer", f"{statistics.median(times):.1f} s"),
        ("memory of Envoy with it", f"{with_many:.0f} MiB, {before:.0f} MiB with one API"),
        (f"{CHANGES} changes under load", f"{failures} errors in {calls:,} calls"),
    ]


async def _until_in_force(gateway: Gateway, port: int, sink: int, number: int) -> float:
    """Seconds until a key that was changed lets its caller in."""
    wanted = table(sink, apis=APIS, subscriptions=SUBSCRIPTIONS, key=f"{KEY}-change-{number}")
    began = time.perf_counter()
    applying = asyncio.create_task(gateway.apply(wanted))
    while (await apply_load(port, _request(f"{KEY}-change-{number}"), 1, 0.0, tolerant=True)).failures:
        await asyncio.sleep(0.02)
    seconds = time.perf_counter() - began
    await applying
    return seconds


async def _while_changing(gateway: Gateway, port: int, sink: int) -> list[Load]:
    """Other APIs come and go, while one is called."""
    done = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        calling = group.create_task(_calls(port, done))
        for number in range(CHANGES):
            await gateway.apply(table(sink, apis=1 + number % 20, subscriptions=1 + number % 30))
        done.set()
    return calling.result()


async def _calls(port: int, done: asyncio.Event) -> list[Load]:
    loads = []
    while not done.is_set():
        loads.append(await apply_load(port, _request(KEY), 16, 1.0, tolerant=True))
    return loads


def _request(key: str) -> bytes:
    return request_bytes("GET", _PATH, {"x-api-key": key})


def _processor_seconds(pid: int) -> float:
    """What it has used so far: others on the machine change it less than they do rates."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def _memory(gateway: Gateway) -> float:
    """MiB that it has for itself."""
    return float(psutil.Process(gateway.pid).memory_info().rss) / (1 << 20)
