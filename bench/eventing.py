"""Publishing over HTTP until the durable acknowledgement, against the bare NATS client on the same NATS server."""

import asyncio
import statistics
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from uuid import uuid4

import httpx
import msgspec
from nats.aio.client import Client

from bench.bus import bare_client
from bench.http_surface import free_port, penstock
from bench.load import Load, apply_load, request_bytes
from penstock.bus.credentials import BusKeys

TITLE = "Publishing events over HTTP, ratio to the bare NATS client (every write synced to disk by both)"

SECONDS = 1.5
ROUNDS = 5
BATCH = 100
FEW, MANY = 10, 10_000
TYPE = "bench.measured"
DATA = {"order": 4711, "customer": "somebody", "lines": [{"article": "a-17", "price": 9.5}] * 3}
_ID = b"0" * 12
_PATH = "/api/EventHub/Publish"
Rate = Callable[[float], Awaitable[float]]


async def run() -> list[tuple[str, str]]:
    return [*await against_bare(), await many_against_few()]


async def against_bare() -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        nats_port = free_port()
        async with (
            penstock(folder, PENSTOCK_NATS_PORT=str(nats_port)) as (port, key),
            bare(nats_port, Path(folder) / "penstock" / "bus-keys.json") as client,
        ):
            headers = {"x-api-key": key}
            await subscribe(port, headers, FEW)
            single, batch = single_requests(headers), batch_requests(headers)
            return [
                await compared("one by one", bare_rate(client, 1, 1), our_rate(port, single, 1)),
                await compared("64 at once", bare_rate(client, 64, 1), our_rate(port, single, 64)),
                await compared(f"{BATCH} in a batch", bare_rate(client, 1, BATCH), our_rate(port, batch, 1, BATCH)),
                await compared(
                    f"{BATCH} in a batch, 8 at once", bare_rate(client, 8, BATCH), our_rate(port, batch, 8, BATCH)
                ),
            ]


async def many_against_few() -> tuple[str, str]:
    """Two servers that take turns, so that the machine's mood falls on both."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        async with penstock(folder) as (port, key), penstock(other) as (other_port, other_key):
            headers, other_headers = {"x-api-key": key}, {"x-api-key": other_key}
            await subscribe(port, headers, FEW)
            await subscribe(other_port, other_headers, MANY)
            few = our_rate(port, single_requests(headers), 64)
            many = our_rate(other_port, single_requests(other_headers), 64)
            label, ratio = await compared(f"{MANY:,} subscriptions, ratio to {FEW}", few, many)
            return label, ratio.replace("bare", f"with {FEW}")


async def compared(label: str, theirs: Rate, ours: Rate) -> tuple[str, str]:
    """The median ratio of rounds that alternate, so that the machine's mood falls on both."""
    found = [(await theirs(SECONDS), await ours(SECONDS)) for _ in range(ROUNDS)]
    bare_rate, own = (statistics.median(rates) for rates in zip(*found, strict=True))
    ratio = statistics.median(ours / theirs for theirs, ours in found)
    return label, f"{ratio:5.2f}   ({own:,.0f} events/s, bare {bare_rate:,.0f}/s)"


def event_bytes() -> bytes:
    """An event with a placeholder of an id."""
    event = {"specversion": "1.0", "id": _ID.decode(), "source": "/bench", "type": TYPE, "data": DATA}
    return msgspec.json.encode(event)


_numbers = count(1)


def numbered(event: bytes) -> bytes:
    """The event under an id that no other has."""
    return event.replace(_ID, b"%012d" % next(_numbers), 1)


def single_requests(headers: dict[str, str]) -> Callable[[], bytes]:
    request = request_bytes("POST", _PATH, headers, event_bytes())
    return lambda: numbered(request)


def batch_requests(headers: dict[str, str]) -> Callable[[], bytes]:
    event = event_bytes()

    def request() -> bytes:
        body = b"[" + b",".join(numbered(event) for _ in range(BATCH)) + b"]"
        return request_bytes("POST", _PATH, headers, body)

    return request


def our_rate(port: int, request: Callable[[], bytes], connections: int, events: int = 1) -> Rate:
    async def rate(seconds: float) -> float:
        load = await apply_load(port, request, connections, seconds)
        return load.rate * events

    return rate


def bare_rate(client: Client, at_once: int, events: int) -> Rate:
    """Events a second of a plain JetStream publish, or of an atomic batch, with so many callers."""
    publish = publish_one if events == 1 else publish_batch

    async def rate(seconds: float) -> float:
        loop = asyncio.get_running_loop()
        started = loop.time()

        async def caller() -> int:
            done = 0
            while loop.time() - started < seconds:
                await publish(client)
                done += events
            return done

        done = await asyncio.gather(*(caller() for _ in range(at_once)))
        return Load(sum(done), loop.time() - started).rate

    return rate


async def publish_one(client: Client) -> None:
    id = uuid4().hex
    await client.jetstream().publish("bench.event", event_bytes(), headers={"Nats-Msg-Id": id})


async def publish_batch(client: Client) -> None:
    batch = uuid4().hex
    for number in range(1, BATCH):
        await client.publish("bench.event", event_bytes(), headers=_batch_headers(batch, number))
    last = {**_batch_headers(batch, BATCH), "Nats-Batch-Commit": "1"}
    answer = await client.request("bench.event", event_bytes(), headers=last, timeout=10)
    if b'"error"' in answer.data:
        raise RuntimeError(answer.data.decode())


def _batch_headers(batch: str, number: int) -> dict[str, str]:
    return {"Nats-Msg-Id": f"{batch}-{number}", "Nats-Batch-Id": batch, "Nats-Batch-Sequence": str(number)}


@asynccontextmanager
async def bare(nats_port: int, keys: Path) -> AsyncIterator[Client]:
    """A bare client with a stream of its own on the server's NATS."""
    client = await bare_client(f"nats://127.0.0.1:{nats_port}", BusKeys.load_or_create(keys))
    try:
        stream = {"name": "bench", "subjects": ["bench.>"], "storage": "file", "allow_atomic": True}
        await client.request("$JS.API.STREAM.CREATE.bench", msgspec.json.encode(stream), timeout=10)
        yield client
    finally:
        await client.close()


async def subscribe(port: int, headers: dict[str, str], count: int) -> None:
    """A channel that gets every event measured, and subscriptions to others."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as api:
        (await api.post("/api/EventHub/Channels", json={"Name": "bench"})).raise_for_status()
        left = iter(range(count))

        async def make() -> None:
            for number in left:
                wanted = {"ChannelName": "bench", "EventType": TYPE if number == 0 else f"bench.other-{number}"}
                (await api.post("/api/EventHub/Subscriptions", json=wanted)).raise_for_status()

        await asyncio.gather(*(make() for _ in range(16)))
