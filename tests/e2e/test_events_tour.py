"""docs/tutorial-events.md, with the files that it uses, through real processes."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from tests.installation import PATIENCE, Place
from tests.nats_server import free_port

pytestmark = pytest.mark.timeout(180)

EXAMPLES = Path(__file__).parents[2] / "examples" / "events"
CHANNEL = "big-orders"


@asynccontextmanager
async def example(name: str, *arguments: str) -> AsyncIterator[asyncio.StreamReader]:
    """A program of the example; gives what it writes."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(EXAMPLES / name), *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield process.stdout
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def order(place: Place, number: str, amount: int) -> str:
    """What the webhook answers to an order of the shop."""
    async with example("shop.py", number, str(amount), f"http://127.0.0.1:{place.port}") as output:
        return (await output.read()).decode()


async def line_of(output: asyncio.StreamReader) -> str:
    async with asyncio.timeout(PATIENCE):
        return (await output.readline()).decode().rstrip()


async def dead_letters(place: Place) -> list[str]:
    """The ids of the events, newest first."""
    ended = await place.terminal.run("deadletters", "list", CHANNEL, "-o", "json")
    assert ended.code == 0, ended.err
    return [letter["EventId"] for letter in msgspec.json.decode(ended.out)]


async def test_a_signed_order_reaches_the_sink_and_a_dead_letter_is_replayed(tmp_path: Path) -> None:
    place, port = Place(tmp_path), free_port()
    documents = (EXAMPLES / "orders.yaml").read_text().replace("127.0.0.1:9000", f"127.0.0.1:{port}")
    async with place.up(PENSTOCK_DELIVERY_RETRY_SECONDS="0.1,0.2") as up:
        await up.shows("Ctrl-C stops everything")
        applied = await place.terminal.run("apply", "-f", "-", given=documents)
        assert applied.code == 0, applied.err

        async with example("sink.py", str(port)) as sink:
            assert (await order(place, "1001", 250)).startswith("200 ")
            assert (await order(place, "1002", 20)).startswith("200 ")
            assert (await order(place, "1003", 300)).startswith("200 ")
            assert await line_of(sink) == "order-1001 com.example.order {'text': 'Order 1001 is worth 250'}"
            assert await line_of(sink) == "order-1003 com.example.order {'text': 'Order 1003 is worth 300'}"

        assert (await order(place, "1004", 400)).startswith("200 ")
        async with asyncio.timeout(PATIENCE):
            while await dead_letters(place) != ["order-1004"]:
                await asyncio.sleep(0.1)

        async with example("sink.py", str(port)) as sink:
            replayed = await place.terminal.run("deadletters", "replay", CHANNEL, "--all")
            assert replayed.out == "1 will be delivered again\n"
            assert await line_of(sink) == "order-1004 com.example.order {'text': 'Order 1004 is worth 400'}"
        assert await dead_letters(place) == []

        event = msgspec.json.decode((await place.terminal.run("get", "event", "order-1004", "-o", "json")).out)
        assert event["TargetChannels"] == [CHANNEL]
        assert (await up.interrupt()).code == 0
