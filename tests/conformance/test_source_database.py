"""The event source `database-change`, on real databases."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from penstock.connectors.source import SourceFailed
from penstock.kernel.errors import Forbidden, Invalid
from tests.conformance.source_use import Polled, source, surroundings
from tests.nats_server import free_port


class Table:
    """A table `orders` with an identity, a text and a version."""

    def __init__(self, url: str, execute: Callable[[str], None]) -> None:
        self.url = url
        self.execute = execute

    def insert(self, *ids: int, version: int = 1) -> None:
        for id in ids:
            self.execute(f"INSERT INTO orders (id, item, version) VALUES ({id}, 'item {id}', {version})")

    def growing(self, **options: Any) -> Polled:
        return Polled(source("database-change", url=self.url, table="orders", column="id", **options))

    def versioned(self, **options: Any) -> Polled:
        return Polled(
            source(
                "database-change",
                **{"url": self.url, "table": "orders", "column": "version", "key": ["id"], **options},
                tracking="version",
            )
        )


@pytest.fixture(params=["sqlite", "postgresql"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Table]:
    create = "CREATE TABLE orders (id integer PRIMARY KEY, item text, version integer)"
    if request.param == "sqlite":
        file = tmp_path / "shop.db"
        with closing(sqlite3.connect(file, isolation_level=None)) as lite:
            lite.execute("PRAGMA synchronous = OFF")
            lite.execute(create)
            yield Table(f"sqlite:///{file}", lambda statement: lite.execute(statement) and None)
        return
    url = request.getfixturevalue("postgres_url")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(create)
        yield Table(url, lambda statement: connection.execute(statement.encode()) and None)


async def test_new_rows_are_told_and_those_there_before_are_not(table: Table) -> None:
    table.insert(1, 2)
    polled = table.growing()
    assert await polled.poll() == []
    table.insert(3, 4)
    first, second = await polled.poll()
    assert first.data == {
        "Table": "orders",
        "Key": {"id": 3},
        "Version": 3,
        "Row": {"id": 3, "item": "item 3", "version": 1},
    }
    assert (first.type, second.subject) == ("penstock.database.inserted", "orders/4")
    table.execute("UPDATE orders SET item = 'x'")
    assert await polled.poll() == []


async def test_a_row_that_becomes_visible_late_is_not_lost(table: Table) -> None:
    table.insert(1)
    polled = table.growing()
    await polled.poll()
    table.insert(3)  # 2 belongs to a transaction that commits later
    assert [found.subject for found in await polled.poll()] == ["orders/3"]
    table.insert(2)
    assert [found.subject for found in await polled.poll()] == ["orders/2"]
    assert await polled.poll() == []


async def test_more_rows_than_one_poll_takes_are_each_told_once(table: Table) -> None:
    polled = table.growing(window=3, columns=["item"])
    await polled.poll()
    table.insert(*range(1, 1302))
    found = await polled.poll()
    assert [each.data["Key"]["id"] for each in found] == list(range(1, 1302))
    assert found[0].data["Row"] == {"item": "item 1"}


async def test_a_version_column_tells_changes_of_rows_also_with_equal_versions(table: Table) -> None:
    table.insert(1, 2, version=7)
    polled = table.versioned()
    await polled.poll()
    table.execute("UPDATE orders SET item = 'new', version = 8")
    found = await polled.poll()
    assert [(each.type, each.data["Key"], each.data["Version"]) for each in found] == [
        ("penstock.database.changed", {"id": 1}, 8),
        ("penstock.database.changed", {"id": 2}, 8),
    ]
    table.insert(3, version=8)
    assert [each.data["Key"] for each in await polled.poll()] == [{"id": 3}]
    table.execute("UPDATE orders SET version = 9 WHERE id = 1")
    [again] = await polled.poll()
    assert again.key != found[0].key


async def test_an_empty_table_is_told_from_its_first_row_on(table: Table) -> None:
    polled = table.growing()
    assert await polled.poll() == []
    table.insert(1)
    assert [found.subject for found in await polled.poll()] == ["orders/1"]


async def test_a_table_that_is_not_there_is_a_failure(table: Table) -> None:
    polled = Polled(source("database-change", url=table.url, table="nothing", column="id"))
    with pytest.raises(SourceFailed, match="nothing"):
        await polled.poll()


async def test_times_and_other_values_of_postgresql_are_read_and_compared(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE readings (sensor uuid, at timestamptz, value numeric, raw bytea, more jsonb)")
        polled = Polled(
            source(
                "database-change", url=postgres_url, table="readings", column="at", key=["sensor"], tracking="version"
            )
        )
        await polled.poll()
        sensors = sorted(uuid4() for _ in range(2))
        for sensor in sensors:
            values = (sensor, "2026-01-01T00:00:00.000001+02:00", "1.50", b"\x01", '{"a": [1]}')
            connection.execute("INSERT INTO readings VALUES (%s, %s, %s, %s, %s)", values)
        found = await polled.poll()
        assert await polled.poll() == []
    assert [each.data["Key"]["sensor"] for each in found] == [str(sensor) for sensor in sensors]
    row = found[0].data["Row"]
    assert (row["value"], row["raw"], row["more"]) == ("1.50", "AQ==", {"a": [1]})
    assert datetime.fromisoformat(row["at"]) == datetime(2025, 12, 31, 22, 0, 0, 1, tzinfo=UTC)


async def test_the_name_of_a_table_is_never_read_as_sql(table: Table) -> None:
    table.insert(1)
    polled = Polled(source("database-change", url=table.url, table="orders; DELETE FROM orders", column="id"))
    with pytest.raises(SourceFailed):
        await polled.poll()
    still = table.growing()
    await still.poll()
    assert still.position == {"seen": [[["int", 1]]]}


async def test_a_password_is_in_no_message() -> None:
    url = f"postgresql://app:hunter2@127.0.0.1:{free_port()}/shop"
    with pytest.raises(SourceFailed) as failure:
        await Polled(source("database-change", url=url, table="t", column="id")).poll()
    assert "hunter2" not in failure.value.detail


async def test_databases_at_private_addresses_and_on_the_machine_itself_are_refused(postgres_url: str) -> None:
    around = surroundings(allow_private=False, folders=[])
    for url in ("postgresql://127.0.0.1/x", postgres_url, "postgresql:///x", "sqlite:////etc/passwd"):
        with pytest.raises(Forbidden):
            await Polled(source("database-change", url=url, table="t", column="id"), around).poll()


@pytest.mark.parametrize(
    "url",
    [
        "x",
        "sqlite://",
        "sqlite:///relative.db",
        "postgresql://a,b/x",
        "postgresql://a/x?host=b",
        "postgresql://a/x?hostaddr=10.0.0.1",
        "postgresql://a/x?service=s",
    ],
)
def test_addresses_of_databases_that_could_mean_something_else_are_refused(url: str) -> None:
    with pytest.raises(Invalid, match="url"):
        source("database-change", url=url, table="t", column="id")


def test_tracking_by_version_needs_a_key() -> None:
    with pytest.raises(Invalid, match="key"):
        source("database-change", url="sqlite:////x.db", table="t", column="v", tracking="version")
