"""The bus against the bare NATS client, on one embedded server with every write synced to disk."""

import asyncio
import base64
import contextlib
import logging
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import TimeoutError as NatsTimeoutError

import nats
from penstock.bus.bus import Bus
from penstock.bus.consumer import Consumer, ConsumerSpec
from penstock.bus.credentials import BusKeys
from penstock.bus.embedded import EmbeddedServer
from penstock.bus.message import Message, Received
from penstock.bus.nkeys import NKey
from penstock.bus.streams import Streams, StreamSpec

TITLE = "Bus: messages a second, ratio to the bare NATS client"

BODY = bytes(200)
ROUNDS = 15
IN_FLIGHT = 64
Work = Callable[[int], Awaitable[None]]


async def run() -> list[tuple[str, str]]:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    keys = BusKeys.generate()
    with tempfile.TemporaryDirectory() as folder:
        async with (
            EmbeddedServer(Path(folder), keys) as server,
            await Bus.connect(server.url, keys.server_user(), name="bench") as bus,
            await bare_client(server.url, keys) as bare,
        ):
            await Streams(bus).ensure(StreamSpec(name="bench", subjects=["bench.>"]))
            return [
                await compared("publish one by one", 150, bare_publish(bare), bus_publish(bus)),
                await compared("publish, 64 in flight", 1280, bare_publish_many(bare), bus_publish_many(bus)),
                await compared("consume, a handler call each", 2000, bare_consume(bare, "a"), bus_consume(bus)),
                await compared("consume, batches of 100", 2000, bare_consume(bare, "b"), bus_consume_batches(bus)),
                await compared("request one by one", 300, *await requests(bare, bus, 1)),
                await compared("request, 64 in flight", 2560, *await requests(bare, bus, IN_FLIGHT)),
            ]


async def compared(label: str, count: int, bare: Work, ours: Work) -> tuple[str, str]:
    """Medians of alternating rounds, so that both meet the same noise."""
    rates: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for work, found in zip((bare, ours), rates, strict=True):
            started = time.perf_counter()
            await work(count)
            found.append(count / (time.perf_counter() - started))
    theirs, own = (median(found) for found in rates)
    return label, f"{own / theirs:5.2f}   ({own:,.0f}/s, bare {theirs:,.0f}/s)"


async def bare_client(url: str, keys: BusKeys) -> Client:
    credential = keys.server_user()
    key = NKey.from_seed(credential.seed)
    return await nats.connect(
        url,
        user_jwt_cb=lambda: bytearray(credential.jwt.encode()),
        signature_cb=lambda nonce: base64.b64encode(key.sign(nonce.encode())),
    )


def bare_publish(client: Client) -> Work:
    stream = client.jetstream()

    async def work(count: int) -> None:
        for _ in range(count):
            await stream.publish("bench.x", BODY)

    return work


def bus_publish(bus: Bus) -> Work:
    async def work(count: int) -> None:
        for _ in range(count):
            await bus.publish("bench.x", BODY)

    return work


def bare_publish_many(client: Client) -> Work:
    return in_flight(bare_publish(client))


def bus_publish_many(bus: Bus) -> Work:
    async def work(count: int) -> None:
        await bus.publish_all([Message(subject="bench.x", body=BODY)] * count, in_flight=IN_FLIGHT)

    return work


def bare_consume(client: Client, name: str) -> Work:
    stream = client.jetstream()
    made = 0

    async def work(count: int) -> None:
        nonlocal made
        made += 1
        subscription = await stream.pull_subscribe("bench.>", durable=f"bare-{name}-{made}", stream="bench")
        left = count
        while left > 0:
            with contextlib.suppress(NatsTimeoutError):
                for message in await subscription.fetch(min(100, left)):
                    await message.ack()
                    left -= 1
        await subscription.unsubscribe()

    return work


def bus_consume(bus: Bus) -> Work:
    return consuming(bus, "one", lambda consumer, taken: consumer.run(lambda message: taken(1)))


def bus_consume_batches(bus: Bus) -> Work:
    return consuming(
        bus, "batch", lambda consumer, taken: consumer.run_batches(lambda messages: taken(len(messages)), batch=100)
    )


def consuming(
    bus: Bus, name: str, start: Callable[[Consumer, Callable[[int], Awaitable[None]]], Awaitable[None]]
) -> Work:
    made = 0

    async def work(count: int) -> None:
        nonlocal made
        made += 1
        left = count
        done = asyncio.Event()

        async def taken(messages: int) -> None:
            nonlocal left
            left -= messages
            if left <= 0:
                done.set()

        consumer = Consumer(bus, ConsumerSpec(stream="bench", name=f"{name}-{made}"))
        running = asyncio.ensure_future(start(consumer, taken))
        await done.wait()
        running.cancel()
        await asyncio.wait([running])

    return work


async def requests(client: Client, bus: Bus, concurrency: int) -> tuple[Work, Work]:
    async def bare_answer(message: Msg) -> None:
        await message.respond(BODY)

    async def answer(request: Received) -> bytes:
        return BODY

    await client.subscribe(f"bare.{concurrency}", queue="q", cb=bare_answer)
    await bus.respond(f"ours.{concurrency}", answer, queue="q")

    async def bare(count: int) -> None:
        for _ in range(count):
            await client.request(f"bare.{concurrency}", BODY, timeout=5)

    async def ours(count: int) -> None:
        for _ in range(count):
            await bus.request(f"ours.{concurrency}", BODY)

    return (bare, ours) if concurrency == 1 else (in_flight(bare), in_flight(ours))


def in_flight(work: Work) -> Work:
    async def spread(count: int) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(IN_FLIGHT):
                group.create_task(work(count // IN_FLIGHT))

    return spread
