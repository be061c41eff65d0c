"""`sql`: statements of flows in real databases."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from penstock.flow.parsing.parser import parse_flow
from penstock.flow.parsing.problem import InvalidFlow
from penstock.flow.surroundings import Reach
from penstock.flow.variables import Variable
from tests.conformance.flow_sources import once, route
from tests.conformance.running_engine import RunningEngine, eventually, running_engine

TABLE = "CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT, done INTEGER DEFAULT 0)"
ROWS = [(1, "apples"), (2, "pears"), (3, "plums")]
EVIL = "x'); DELETE FROM orders; --"


class Shop:
    """An engine whose flows know a database as `#shop`."""

    def __init__(self, running: RunningEngine) -> None:
        self.running = running

    @property
    def messages(self) -> list[str]:
        return self.running.listener.messages

    async def run(self, *steps: str, body: str | None = None) -> None:
        await self.running.start("shopping", once(*steps, body=body))
        await self.running.settled("shopping")

    def rows(self, query: str = "SELECT id, name FROM orders ORDER BY id") -> list[tuple[Any, ...]]:
        raise NotImplementedError


class SqliteShop(Shop):
    def __init__(self, running: RunningEngine, file: Path) -> None:
        super().__init__(running)
        self.file = file

    def rows(self, query: str = "SELECT id, name FROM orders ORDER BY id") -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.file) as connection:
            return connection.execute(query).fetchall()


class PostgresShop(Shop):
    def __init__(self, running: RunningEngine, url: str) -> None:
        super().__init__(running)
        self.url = url

    def rows(self, query: str = "SELECT id, name FROM orders ORDER BY id") -> list[tuple[Any, ...]]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(query.encode()).fetchall()


@asynccontextmanager
async def engine(address: str, *folders: Path, allow_private: bool = True) -> AsyncIterator[RunningEngine]:
    variables = {"datasource.shop": Variable(address, is_secret=True)}
    reach = Reach(allow_private=allow_private, folders=folders)
    async with running_engine(reach=reach, variables=variables) as running:
        yield running


@asynccontextmanager
async def sqlite_shop(folder: Path) -> AsyncIterator[SqliteShop]:
    file = folder / "shop.db"
    connection = sqlite3.connect(file)
    connection.execute(TABLE)
    connection.executemany("INSERT INTO orders (id, name) VALUES (?, ?)", ROWS)
    connection.commit()
    connection.close()
    async with engine(f"sqlite:///{file}", folder) as running:
        yield SqliteShop(running, file)


@pytest.fixture(params=["sqlite", "postgres"])
async def shop(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shop]:
    if request.param == "sqlite":
        async with sqlite_shop(tmp_path) as shop:
            yield shop
        return
    url = request.getfixturevalue("postgres_url")
    with psycopg.connect(url) as connection:
        connection.execute(TABLE.encode())
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO orders (id, name) VALUES (%s, %s)", ROWS)
    async with engine(url) as running:
        yield PostgresShop(running, url)


def sql(query: str, **options: object) -> str:
    """A step that runs the statement."""
    parameters = "".join(f", {name}: {str(value).lower()!r}" for name, value in options.items() if name != "outputType")
    kind = f", outputType: {options['outputType']}" if "outputType" in options else ""
    return f'to: {{uri: sql, parameters: {{query: "{query}", dataSource: "#shop"{kind}{parameters}}}}}'


# Statements


async def test_rows_become_a_list_of_maps(shop: Shop) -> None:
    await shop.run(
        sql("SELECT id, name FROM orders WHERE id < 3 ORDER BY id"), "log: '${body} ${header.CamelSqlRowCount}'"
    )
    assert shop.messages == ["[{id=1, name=apples}, {id=2, name=pears}] 2"]


async def test_parameters_come_from_headers_and_expressions(shop: Shop) -> None:
    await shop.run(
        "setHeader: {name: wanted, simple: '${body}'}",
        sql("SELECT name FROM orders WHERE name = :#wanted AND name = :#${body}", outputType="SelectOne"),
        "log: '${body}'",
        body="pears",
    )
    assert shop.messages == ["pears"]


async def test_parameters_come_from_the_body_when_it_is_a_map(shop: Shop) -> None:
    await shop.run(
        sql("SELECT id, name FROM orders WHERE id = 2", outputType="SelectOne"),
        sql("UPDATE orders SET name = 'figs' WHERE id = :#id AND name = :#name"),
        "log: '${header.CamelSqlUpdateCount} ${body}'",
    )
    assert shop.messages == ["1 {id=2, name=pears}"]
    assert shop.rows()[1] == (2, "figs")


async def test_places_take_the_values_of_the_body_in_order(shop: Shop) -> None:
    await shop.run(sql("INSERT INTO orders (name, id) VALUES (#, CAST(# AS INTEGER))"), body="'dates, dried',4")
    assert shop.rows()[3] == (4, "dates, dried")


async def test_a_list_of_values_is_a_parameter_of_in(shop: Shop) -> None:
    await shop.run(
        "setHeader: {name: names, constant: 'plums,apples'}",
        sql("SELECT id FROM orders WHERE name IN (:#in:names) ORDER BY id"),
        "log: '${body}'",
    )
    assert shop.messages == ["[{id=1}, {id=3}]"]


async def test_values_never_become_part_of_the_statement(shop: Shop) -> None:
    insert = "INSERT INTO orders (id, name) VALUES (9, :#${body})"
    await shop.run(sql(insert), sql("SELECT name FROM orders WHERE name = :#${body} OR name IN (:#in:all)"), body=EVIL)
    assert shop.rows() == [*ROWS, (9, EVIL)]


async def test_what_looks_like_a_parameter_in_a_text_is_text(shop: Shop) -> None:
    await shop.run(
        sql("SELECT name || '12:30 :#no # :x' AS text FROM orders WHERE id = 1", outputType="SelectOne"),
        "log: '${body}'",
    )
    assert shop.messages == ["apples12:30 :#no # :x"]


async def test_one_row_is_a_map_and_one_value_the_value_itself(shop: Shop) -> None:
    await shop.run(
        sql("SELECT id, name FROM orders WHERE id = 1", outputType="SelectOne"),
        "log: '${body}'",
        sql("SELECT count(*) FROM orders", outputType="SelectOne"),
        "log: '${body}'",
        sql("SELECT id FROM orders WHERE id = 99", outputType="SelectOne"),
        "log: '<${body}>'",
    )
    assert shop.messages == ["{id=1, name=apples}", "3", "<>"]


async def test_several_rows_are_too_many_for_one(shop: Shop) -> None:
    await shop.run(sql("SELECT id FROM orders", outputType="SelectOne"))
    assert shop.messages == ["Exchange failed: Query result not unique for outputType=SelectOne. Got 3 count instead."]


async def test_the_result_may_go_to_a_header_or_nowhere(shop: Shop) -> None:
    query = 'to: {uri: sql, parameters: {query: "SELECT 1 AS n", dataSource: "#shop", '
    await shop.run(
        query + "outputHeader: found}}",
        "log: '${body} ${header.found}'",
        query + "noop: true}}",
        "log: '${body}'",
        body="b",
    )
    assert shop.messages == ["b [{n=1}]", "b"]


async def test_a_batch_runs_for_each_element_or_for_none(shop: Shop) -> None:
    rows = sql("SELECT id + 10 AS id, name FROM orders ORDER BY id")
    insert = sql("INSERT INTO orders (id, name) VALUES (:#id, :#name)", batch=True)
    await shop.run(rows, insert, "log: '${header.CamelSqlUpdateCount}'", insert)
    assert shop.messages[0] == "3"
    assert shop.messages[1].startswith("Exchange failed: ")
    assert len(shop.rows()) == 6


async def test_a_statement_that_fails_says_what_the_database_says_and_no_values(shop: Shop) -> None:
    await shop.run(sql("INSERT INTO nothing (a) VALUES (:#${body})"), body="private")
    assert "nothing" in shop.messages[0]
    assert "private" not in shop.messages[0]


async def test_a_parameter_that_nobody_gives_fails(shop: Shop) -> None:
    await shop.run(sql("SELECT * FROM orders WHERE id = :#nobody"))
    assert shop.messages[0].startswith("Exchange failed: Cannot find key [nobody] in message body or headers")


async def test_a_message_cannot_change_the_statement(shop: Shop) -> None:
    await shop.run("setHeader: {name: CamelSqlQuery, constant: 'DELETE FROM orders'}", sql("SELECT 1"))
    assert "a message cannot change the statement" in shop.messages[0]
    assert len(shop.rows()) == 3


def test_a_statement_holds_no_variables() -> None:
    with pytest.raises(InvalidFlow, match="must not hold variables"):
        parse_flow("f", "1", route("timer:t", sql("SELECT '{{var:NAME}}'")))


async def test_a_statement_holds_up_nothing_and_ends_with_its_flow(postgres_url: str) -> None:
    async with engine(postgres_url) as running:
        await running.start("slow", once(sql("SELECT pg_sleep(600)")))
        await running.start("quick", route("timer:t?delay=0&period=1", "log: tick"))
        await eventually(lambda: running.listener.messages.count("tick") > 10 and statements(postgres_url) == 1)
        await running.engine.stop("slow", timedelta())
        await eventually(lambda: statements(postgres_url) == 0)


def statements(url: str) -> int:
    """How many statements of flows the server is busy with."""
    with psycopg.connect(url) as connection:
        query = b"SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT pg_sleep%'"
        found = connection.execute(query).fetchone()
    return found[0] if found else 0


# Polling


async def test_each_row_is_an_exchange_and_is_marked_when_it_is_done(shop: Shop) -> None:
    source = route(
        "sql",
        "log: '${body}'",
        query="SELECT id, name FROM orders WHERE done = 0 ORDER BY id",
        dataSource="#shop",
        onConsume="UPDATE orders SET done = 1 WHERE id = :#id",
        initialDelay=0,
        delay=20,
    )
    await shop.running.start("polling", source)
    await eventually(lambda: shop.rows("SELECT count(*) FROM orders WHERE done = 1") == [(3,)])
    await asyncio.sleep(0.1)
    assert shop.messages == ["{id=1, name=apples}", "{id=2, name=pears}", "{id=3, name=plums}"]


async def test_rows_that_fail_are_marked_otherwise(shop: Shop) -> None:
    source = route(
        "sql",
        "to: direct:nobody",
        query="SELECT id FROM orders WHERE done = 0",
        dataSource="#shop",
        onConsumeFailed="UPDATE orders SET done = 2 WHERE id = :#id",
        initialDelay=0,
    )
    await shop.running.start("failing", source)
    await eventually(lambda: shop.rows("SELECT count(*) FROM orders WHERE done = 2") == [(3,)])


async def test_all_rows_may_be_one_exchange(shop: Shop) -> None:
    source = route(
        "sql",
        "log: '${body}'",
        query="SELECT id FROM orders ORDER BY id",
        dataSource="#shop",
        useIterator=False,
        initialDelay=0,
    )
    await shop.running.start("together", source)
    await eventually(lambda: bool(shop.messages))
    assert shop.messages[0] == "[{id=1}, {id=2}, {id=3}]"


# Databases


async def test_a_password_never_shows() -> None:
    async with engine("postgresql://ann:s3cret-word@127.0.0.1:1/shop") as running:
        await running.start("wrong", once(sql("SELECT 1"), body="x"))
        await running.settled("wrong")
        assert running.listener.messages[0].startswith("Exchange failed: ")
        assert "s3cret-word" not in running.listener.messages[0]


async def test_a_database_at_a_private_address_is_refused_unless_the_agent_allows_it() -> None:
    async with engine("postgresql://127.0.0.1/shop", allow_private=False) as running:
        await running.start("private", once(sql("SELECT 1")))
        await running.settled("private")
        assert "is in a private" in running.listener.messages[0]


async def test_a_file_outside_the_allowed_folders_is_refused(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "link.db").symlink_to(tmp_path / "secret.db")
    for path in (tmp_path / "secret.db", allowed / ".." / "secret.db", allowed / "link.db"):
        async with engine(f"sqlite:///{path}", allowed) as running:
            await running.start("outside", once(sql("CREATE TABLE t (a INTEGER)")))
            await running.settled("outside")
            assert "is in none of the folders" in running.listener.messages[0]
    assert not (tmp_path / "secret.db").exists()


async def test_a_data_source_without_its_variable_is_named() -> None:
    async with running_engine() as running:
        await running.start("nobody", once(sql("SELECT 1")))
        await running.settled("nobody")
        assert running.listener.messages == [
            "Exchange failed: variable 'datasource.shop', the address of the data source 'shop', does not exist"
        ]


async def test_a_database_that_was_away_is_used_again(tmp_path: Path) -> None:
    async with sqlite_shop(tmp_path) as shop:
        moved = shop.file.rename(tmp_path / "away.db")
        await shop.run(sql("SELECT name FROM orders WHERE id = 1", outputType="SelectOne"), "log: '${body}'")
        (tmp_path / "shop.db").unlink()
        moved.rename(shop.file)
        await shop.running.start("again", once(sql("SELECT name FROM orders WHERE id = 1"), "log: '${body}'"))
        await shop.running.settled("again")
        assert "no such table" in shop.messages[0]
        assert shop.messages[1] == "[{name=apples}]"
