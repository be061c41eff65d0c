"""The flows in `examples/flows` do what they say."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from penstock.flow.surroundings import Reach
from penstock.flow.variables import Variable
from tests.conformance.running_engine import RunningEngine, eventually, running_engine
from tests.http_sink import HttpSink, Reply, http_sink

EXAMPLES = Path(__file__).parents[2] / "examples" / "flows"
ORDER = '{"order": "1001", "lines": [{"sku": "a1", "quantity": 2}, {"sku": "zz", "quantity": 1}]}'


class Shop:
    """An engine, its folder with a database, and a server that takes events."""

    def __init__(self, running: RunningEngine, folder: Path, sink: HttpSink, client: aiohttp.ClientSession) -> None:
        self.running = running
        self.folder = folder
        self.sink = sink
        self._client = client

    async def start(self, name: str) -> None:
        await self.running.start(name, (EXAMPLES / f"{name}.yaml").read_text())

    async def ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        url = f"http://127.0.0.1:{self.running.surroundings.server.port}{path}"
        async with self._client.request(method, url, data=body) as answer:
            return answer.status, await answer.text()

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with sqlite3.connect(self.folder / "shop.db") as connection:
            return connection.execute(query).fetchall()

    def text(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Shop]:
    connection = sqlite3.connect(folder / "shop.db")
    connection.execute(
        "CREATE TABLE goods (sku TEXT PRIMARY KEY, name TEXT, price INTEGER, exported INTEGER DEFAULT 0)"
    )
    connection.execute("INSERT INTO goods (sku, name, price) VALUES ('a1', 'apple', 3)")
    connection.commit()
    connection.close()
    async with http_sink() as sink, aiohttp.ClientSession() as client:
        variables = {
            "datasource.shop": Variable(f"sqlite:///{folder}/shop.db", is_secret=True),
            "penstock.address": Variable(f"127.0.0.1:{sink.port}"),
            "penstock.key": Variable("the-key", is_secret=True),
            "watched": Variable(f"127.0.0.1:{sink.port}/health"),
        }
        reach = Reach(allow_private=True, folders=[folder], http_port=0)
        async with running_engine(reach=reach, variables=variables) as running:
            yield Shop(running, folder, sink, client)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    async with opened(tmp_path) as shop:
        yield shop


async def test_an_order_is_priced_written_down_and_told(shop: Shop) -> None:
    await shop.start("orders")
    assert await shop.ask("POST", "/orders", ORDER) == (202, "order 1001 is placed")
    assert shop.text("orders/priced.csv") == "1001,a1,2,apple,3\n"
    assert shop.text("orders/dead-letters.txt") == "1001: 1 x zz: there is no such article\n"
    event = shop.sink.requests[0]
    assert (event.headers["ce-type"], event.headers["ce-id"]) == ("shop.order.placed", "order-1001")
    assert event.headers["x-api-key"] == "the-key"
    assert event.event["order"] == "1001"


async def test_an_order_that_cannot_be_read_is_a_dead_letter(shop: Shop) -> None:
    await shop.start("orders")
    status, reason = await shop.ask("POST", "/orders", "{oops")
    assert status == 400
    assert reason.startswith("{oops: ")
    assert shop.text("orders/dead-letters.txt").startswith("{oops: ")
    assert shop.sink.requests == []


async def test_an_event_that_is_refused_is_tried_again(shop: Shop) -> None:
    shop.sink.reply_in_turn(Reply(503), Reply(200))
    await shop.start("orders")
    assert (await shop.ask("POST", "/orders", ORDER))[0] == 202
    assert [request.headers["ce-id"] for request in shop.sink.requests] == ["order-1001"] * 2


async def test_articles_are_told_by_their_number(shop: Shop) -> None:
    await shop.start("goods")
    assert await shop.ask("GET", "/goods/a1") == (200, '{"sku":"a1","name":"apple","price":3}')
    assert await shop.ask("GET", "/goods/a1'--") == (404, '{"error": "there is no such article"}')


async def test_articles_are_imported_from_files_and_files_with_errors_set_aside(shop: Shop) -> None:
    await shop.start("import")
    (shop.folder / "import/good.csv").write_text("b2,bread,5\nc3,cheese,9\n")
    (shop.folder / "import/bad.csv").write_text("a1,again,1\n")
    await eventually(lambda: (shop.folder / "import/.camel/good.csv").exists())
    await eventually(lambda: (shop.folder / "import/failed/bad.csv").exists())
    assert shop.rows("SELECT sku, name, price FROM goods ORDER BY sku") == [
        ("a1", "apple", 3),
        ("b2", "bread", 5),
        ("c3", "cheese", 9),
    ]


async def test_articles_are_exported_once(shop: Shop) -> None:
    await shop.start("export")
    await eventually(lambda: shop.rows("SELECT exported FROM goods") == [(1,)])
    assert shop.text("export/a1.json") == '{"sku":"a1","name":"apple","price":3}'


async def test_a_server_that_is_unwell_is_noticed(shop: Shop) -> None:
    shop.sink.answer = lambda request: Reply(503)
    await shop.start("watch")
    await eventually(lambda: bool(shop.text("watch/failures.txt")))
    assert shop.text("watch/failures.txt").endswith("/health with statusCode: 503\n")
