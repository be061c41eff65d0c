"""Opening: making tables, following changed definitions, migrating bodies, refusing what is not ours."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

import psycopg
import pytest

from penstock.kernel.actor import SYSTEM
from penstock.kernel.entity import Entity
from penstock.kernel.errors import Invalid, NameTaken
from penstock.store.definition import Collection, Column, ColumnType, Journal
from penstock.store.migration import Migration
from penstock.store.store import Store, Where, decode
from penstock.store.write import Append, Delete
from tests.conformance.conftest import Database
from tests.conformance.library import BOOKS, ISBN, LOANS, PAGES, READER, SHELF, TITLE, Book, Loan, book, insert, lend


@asynccontextmanager
async def opened(
    database: Database,
    books: Collection[Any] = BOOKS,
    loans: Journal[Any] = LOANS,
    migrations: Sequence[Migration] = (),
) -> AsyncIterator[Store]:
    store = database.store()
    await store.open([books], [loans], migrations)
    try:
        yield store
    finally:
        await store.close()


def with_columns(*columns: Column[Book]) -> Collection[Book]:
    return replace(BOOKS, columns=columns)


def run_sql(database: Database, *statements: str) -> list[tuple[Any, ...]]:
    """What the last statement answers, asked of the database itself."""
    if database.url.startswith("sqlite"):
        connection = sqlite3.connect(database.url.removeprefix("sqlite:///"), isolation_level=None)
        try:
            return [connection.execute(each).fetchall() for each in statements][-1]
        finally:
            connection.close()
    with psycopg.connect(database.url, autocommit=True) as server:
        cursors = [server.execute(each.encode()) for each in statements]
        return cursors[-1].fetchall() if cursors[-1].description else []


async def test_a_new_column_is_filled_from_stored_bodies(database: Database, now: datetime) -> None:
    async with opened(database, with_columns(TITLE), replace(LOANS, columns=())) as store:
        books = [book(now, f"T{number}", shelf="AB"[number % 2], pages=number) for number in range(1001)]
        await store.commit([insert(each, now, with_columns(TITLE)) for each in books])
        await store.commit([lend(now, "ann"), lend(now, "bob")])
    async with opened(database) as store:
        assert await store.count(BOOKS, [Where("shelf", "=", "B")]) == 500
        assert await store.values(BOOKS, ["pages"], [Where("pages", ">=", 999)]) == [(999,), (1000,)]
        assert await store.count_entries(LOANS, [Where("reader", "=", "bob")]) == 1
        assert (await store.find(BOOKS, "title", "t7")) is not None


async def test_a_column_that_is_defined_no_longer_goes_and_may_come_back(database: Database, now: datetime) -> None:
    for columns in ((TITLE, SHELF, ISBN), (TITLE,), (ISBN, TITLE)):
        collection = with_columns(*columns)
        async with opened(database, collection) as store:
            await store.commit([insert(book(now, f"{len(columns)}{columns[0].name}"), now, collection)])
    assert [row[0] for row in run_sql(database, "SELECT c_isbn FROM book")] == [None, None, None]
    with pytest.raises((sqlite3.OperationalError, psycopg.errors.UndefinedColumn), match="c_shelf"):
        run_sql(database, "SELECT c_shelf FROM book")


async def test_a_column_may_change_its_type(database: Database, now: datetime) -> None:
    async with opened(database, with_columns(replace(TITLE, type=ColumnType.TEXT))) as store:
        await store.commit([insert(book(now, "Emma"), now)])
    async with opened(database, with_columns(TITLE)) as store:
        assert await store.find(BOOKS, "title", "EMMA") is not None


async def test_a_column_may_become_unique_and_then_refuses(database: Database, now: datetime) -> None:
    async with opened(database, with_columns(replace(TITLE, unique=False))) as store:
        deleted = book(now, "Emma")
        await store.commit([insert(deleted, now), insert(book(now, "Emma"), now)])
        await store.commit([Delete(BOOKS, deleted.key, now)])
    async with opened(database, with_columns(TITLE)) as store:
        with pytest.raises(NameTaken):
            await store.commit([insert(book(now, "Emma"), now)])


async def test_a_column_cannot_become_unique_over_duplicates_and_nothing_is_changed(
    database: Database, now: datetime
) -> None:
    loose = with_columns(replace(TITLE, unique=False))
    async with opened(database, loose) as store:
        await store.commit([insert(book(now, "Emma"), now, loose), insert(book(now, "EMMA"), now, loose)])
    with pytest.raises(Invalid, match=r"PENSTOCK_DATABASE_URL.*two of 'book' with the same title"):
        async with opened(database, with_columns(TITLE, PAGES)):
            raise AssertionError("opened")
    async with opened(database, loose) as store:
        assert await store.count(BOOKS, [Where("title", "=", "emma")]) == 2


async def test_replicas_may_open_an_empty_database_at_once(database: Database, now: datetime) -> None:
    stores = [database.store() for _ in range(6)]
    await asyncio.gather(*(store.open([BOOKS], [LOANS]) for store in stores))
    await asyncio.gather(*(store.commit([lend(now, "ann")]) for store in stores))
    assert [await store.count_entries(LOANS) for store in stores] == [6] * 6
    await asyncio.gather(*(store.close() for store in stores))


async def test_replicas_may_upgrade_at_once(database: Database, now: datetime) -> None:
    old = with_columns(TITLE)
    async with opened(database, old) as store:
        await store.commit([insert(book(now, str(number), pages=number), now, old) for number in range(100)])
    applied: list[int] = []

    def mark(body: dict[str, Any]) -> dict[str, Any]:
        applied.append(body["Pages"])
        return body | {"Shelf": "marked"}

    stores = [database.store() for _ in range(4)]
    migration = Migration(1, "mark", "book", mark)
    await asyncio.gather(*(store.open([BOOKS], [LOANS], [migration]) for store in stores))
    assert [await store.count(BOOKS, [Where("shelf", "=", "marked")]) for store in stores] == [100] * 4
    assert sorted(applied) == list(range(100))
    await asyncio.gather(*(store.close() for store in stores))


class Shelf(Entity):
    label: str
    width: int


class OldShelf(Entity):
    name: str
    width_in_inches: int


LABEL = Column[Shelf]("label", of=lambda shelf: shelf.label, type=ColumnType.KEY, unique=True)
WIDTH = Column[Shelf]("width", of=lambda shelf: shelf.width, type=ColumnType.INTEGER)
OLD_LABEL = Column[OldShelf]("label", of=lambda shelf: shelf.name, type=ColumnType.KEY, unique=True)
OLD_SHELVES = Collection("shelf", OldShelf, (OLD_LABEL,))
SHELVES = Collection("shelf", Shelf, (LABEL, WIDTH))


def rename(body: dict[str, Any]) -> dict[str, Any]:
    body["Label"] = body.pop("Name")
    return body


def to_millimetres(body: dict[str, Any]) -> dict[str, Any]:
    body["Width"] = round(body.pop("WidthInInches") * 25.4)
    return body


def mark_wide(body: dict[str, Any]) -> dict[str, Any] | None:
    return {**body, "Label": f"{body['Label']} (wide)"} if body["Width"] > 100 else None


MIGRATIONS = [
    Migration(1, "rename Name to Label", "shelf", rename),
    Migration(2, "widths in millimetres", "shelf", to_millimetres),
]


async def test_migrations_rewrite_bodies_in_their_order_and_columns_follow(database: Database, now: datetime) -> None:
    async with opened(database, OLD_SHELVES) as store:
        for number in range(600):
            old = OldShelf(name=f"S{number}", width_in_inches=number).created(SYSTEM, now)
            await store.commit([insert(old, now, OLD_SHELVES)])  # type: ignore[arg-type]
    async with opened(database, SHELVES, migrations=list(reversed(MIGRATIONS))) as store:
        found = await store.find(SHELVES, "label", "s10")
        assert found is not None
        shelf = decode(found.body, Shelf)
        assert (shelf.label, shelf.width, shelf.e_tag) == ("S10", 254, found.e_tag)
        assert await store.count(SHELVES, [Where("width", ">", 0)]) == 599
    [[body]] = run_sql(database, "SELECT body FROM shelf WHERE c_label = 's11'")
    assert b"WidthInInches" not in body
    last = Migration(3, "say what is wide", "shelf", mark_wide)
    for _ in range(2):  # the second time it is done already
        async with opened(database, SHELVES, migrations=[*MIGRATIONS, last]) as store:
            assert await store.find(SHELVES, "label", "s0") is not None
            assert await store.find(SHELVES, "label", "s10 (wide)") is not None


async def test_a_new_database_runs_no_migration_now_or_later(database: Database, now: datetime) -> None:
    for _ in range(2):
        async with opened(database, SHELVES, migrations=MIGRATIONS) as store:
            shelf = Shelf(label=str(len(await store.list(SHELVES))), width=1).created(SYSTEM, now)
            await store.commit([insert(shelf, now, SHELVES)])  # type: ignore[arg-type]
            assert decode((await store.list(SHELVES))[0].body, Shelf) == shelf


async def test_a_migration_that_fails_leaves_everything_as_it_was(database: Database, now: datetime) -> None:
    async with opened(database) as store:
        await store.commit([insert(book(now, "Emma"), now)])

    def fail(body: dict[str, Any]) -> dict[str, Any]:
        raise ZeroDivisionError

    shelve = Migration(1, "shelve", "book", lambda body: body | {"Shelf": "A"})
    with pytest.raises(ZeroDivisionError):
        async with opened(database, migrations=[shelve, Migration(2, "fail", "book", fail)]):
            raise AssertionError("opened")
    async with opened(database) as store:
        assert await store.count(BOOKS, [Where("shelf", "=", "A")]) == 0


async def test_a_body_that_cannot_be_read_names_table_and_cause(database: Database, now: datetime) -> None:
    async with opened(database, OLD_SHELVES) as store:
        old = OldShelf(name="S", width_in_inches=1).created(SYSTEM, now)
        await store.commit([insert(old, now, OLD_SHELVES)])  # type: ignore[arg-type]
    with pytest.raises(Invalid, match=r"PENSTOCK_DATABASE_URL.*'shelf'.*missing required field `Label`"):
        async with opened(database, SHELVES):
            raise AssertionError("opened")


async def test_a_deleted_body_that_cannot_be_read_stops_nothing(database: Database, now: datetime) -> None:
    async with opened(database, OLD_SHELVES) as store:
        old = OldShelf(name="S", width_in_inches=1).created(SYSTEM, now)
        await store.commit([insert(old, now, OLD_SHELVES), Delete(OLD_SHELVES, old.key, now)])  # type: ignore[arg-type]
    async with opened(database, SHELVES) as store:
        assert await store.list(SHELVES) == []


async def test_a_database_of_a_newer_release_is_refused(database: Database) -> None:
    async with opened(database, SHELVES, migrations=MIGRATIONS):
        pass
    with pytest.raises(Invalid, match=r"newer release \(migration 2\)"):
        async with opened(database, SHELVES, migrations=MIGRATIONS[:1]):
            raise AssertionError("opened")
    run_sql(database, "UPDATE penstock_schema SET detail = '2' WHERE kind = 'layout'")
    with pytest.raises(Invalid, match=r"newer release \(layout 2\)"):
        async with opened(database, SHELVES, migrations=MIGRATIONS):
            raise AssertionError("opened")


async def test_the_tables_of_another_program_are_refused_and_left_alone(database: Database) -> None:
    run_sql(database, "CREATE TABLE book (c_title TEXT)", "INSERT INTO book VALUES ('mine')")
    with pytest.raises(Invalid, match="PENSTOCK_DATABASE_URL"):
        async with opened(database):
            raise AssertionError("opened")
    assert run_sql(database, "SELECT * FROM book") == [("mine",)]


async def test_a_collection_cannot_become_a_journal(database: Database) -> None:
    async with opened(database):
        pass
    store = database.store()
    with pytest.raises(Invalid, match="holds 'book' as a collection"):
        await store.open([], [Journal("book", Loan, at=lambda loan: loan.at, key=lambda loan: loan.id)])


async def test_a_table_that_is_defined_no_longer_keeps_its_rows(database: Database, now: datetime) -> None:
    async with opened(database) as store:
        await store.commit([insert(book(now, "Emma"), now)])
    store = database.store()
    await store.open([], [LOANS])
    await store.close()
    async with opened(database) as store:
        assert await store.count(BOOKS) == 1


@pytest.mark.parametrize(
    ("collections", "journals", "message"),
    [
        ([BOOKS, BOOKS], [], "two tables"),
        ([replace(BOOKS, name="penstock_schema")], [], "two tables"),
        ([replace(BOOKS, name="Book")], [], "no name"),
        ([replace(BOOKS, name="b" * 60)], [], "no name"),
        ([with_columns(TITLE, TITLE)], [], "twice"),
        ([with_columns(replace(TITLE, name="e_tag"))], [], "e_tag"),
        ([with_columns(replace(TITLE, name='a"b'))], [], "no name"),
        ([], [replace(LOANS, columns=(replace(READER, unique=True),))], "only the key"),
    ],
)
async def test_definitions_that_cannot_be_stored_are_errors_of_the_program(
    database: Database, collections: list[Collection[Any]], journals: list[Journal[Any]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        await database.store().open(collections, journals)


async def test_words_of_sql_are_good_names(database: Database, now: datetime) -> None:
    user = Collection("user", Book, (replace(TITLE, name="group"), replace(PAGES, name="order")))
    table = Journal("table", Loan, at=LOANS.at, key=LOANS.key, columns=(replace(READER, name="select"),))
    store = database.store()
    await store.open([user], [table])
    await store.commit([insert(book(now, "Emma"), now, user), Append(table, [Loan(id="1", at=now, reader="ann")])])
    assert await store.find(user, "group", "emma") is not None
    assert len(await store.list(user, order="order")) == 1
    assert await store.count_entries(table, [Where("select", "=", "ann")]) == 1
    await store.close()
