"""What only SQLite has: a file, locks of other processes, one writer thread, inline reads."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import pytest

from penstock.kernel.clock import ManualClock
from penstock.kernel.errors import Invalid, NameTaken, Unavailable
from penstock.store.dialect import SQLITE
from penstock.store.documents import DocumentTable
from penstock.store.entries import EntryTable
from penstock.store.sqlite import SqliteStore
from penstock.store.statement import Statement, Steps
from penstock.store.store import Where
from tests.conformance.library import BOOKS, LOANS, book, insert, lend


@pytest.fixture
async def impatient_store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[SqliteStore]:
    """On a file `store.db`; waits a moment only for other processes."""
    store = SqliteStore(tmp_path / "store.db", clock, busy_timeout=0.05)
    await store.open([BOOKS], [LOANS])
    try:
        yield store
    finally:
        await store.close()


async def test_a_file_that_another_process_locks_can_be_read_and_is_unavailable_for_writing(
    impatient_store: SqliteStore, tmp_path: Path, now: datetime
) -> None:
    await impatient_store.commit([lend(now, "ann")])
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked"):
        await impatient_store.commit([lend(now, "bob")])
    assert await impatient_store.count_entries(LOANS) == 1
    other.execute("ROLLBACK")
    other.close()
    await impatient_store.commit([lend(now, "bob")])
    assert await impatient_store.count_entries(LOANS) == 2


async def test_what_shares_a_transaction_with_a_failing_commit_is_kept(
    impatient_store: SqliteStore, tmp_path: Path, now: datetime
) -> None:
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    await impatient_store.commit([insert(book(now, "taken"), now)])
    other.execute("BEGIN IMMEDIATE")  # holds the first back, so that the rest meets in one transaction
    first = asyncio.create_task(impatient_store.commit([lend(now, "first")]))
    await asyncio.sleep(0)
    titles = ["one", "taken", "two", "one"]
    rest = [asyncio.create_task(impatient_store.commit([insert(book(now, title), now)])) for title in titles]
    await asyncio.sleep(0)
    other.execute("ROLLBACK")
    other.close()
    ends = await asyncio.gather(first, *rest, return_exceptions=True)
    assert [type(end) for end in ends[1:]] == [type(None), NameTaken, type(None), NameTaken]
    assert await impatient_store.count(BOOKS) == 3


@pytest.mark.parametrize("content", [b"no database at all\n" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
async def test_a_file_that_is_no_database_is_refused_by_name_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)
    with pytest.raises(Invalid, match=r"PENSTOCK_DATABASE_URL.*store\.db is damaged or not a database"):
        await SqliteStore(path).open([BOOKS], [LOANS])
    assert path.read_bytes() == content


async def test_a_damaged_page_is_unavailable_and_not_a_crash(tmp_path: Path, clock: ManualClock, now: datetime) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(path, clock)
    await store.open([BOOKS], [LOANS])
    for number in range(50):
        await store.commit([insert(book(now, str(number), notes={"text": "x" * 3000}), now)])
    await store.close()
    with path.open("r+b") as file:
        file.seek(20 * 4096)
        file.write(b"\xff" * 60 * 4096)
    await store.open([BOOKS], [LOANS])
    with pytest.raises(Unavailable, match="damaged"):
        await store.list(BOOKS)
    await store.close()


async def test_every_commit_is_synced_to_the_disk(impatient_store: SqliteStore) -> None:
    def ask() -> Steps[tuple[object, object]]:
        mode = yield Statement("PRAGMA journal_mode")
        level = yield Statement("PRAGMA synchronous")
        return mode.rows[0][0], level.rows[0][0]

    assert await impatient_store._write(ask) == ("wal", 2)  # 2 is FULL


async def test_the_files_can_be_read_by_their_owner_only(impatient_store: SqliteStore, tmp_path: Path) -> None:
    modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.iterdir()}
    assert modes == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}


async def test_a_slow_read_holds_up_neither_reads_nor_commits_and_ends_with_the_store(
    impatient_store: SqliteStore, now: datetime
) -> None:
    emma = book(now, "Emma")
    await impatient_store.commit([insert(emma, now)])
    endless = Statement("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
    slow = asyncio.create_task(impatient_store._read(endless))
    await asyncio.sleep(0)
    assert await impatient_store.count(BOOKS) == 1
    await impatient_store.commit([lend(now, "ann")])
    assert await impatient_store.get(BOOKS, emma.key) is not None
    assert not slow.done()
    await impatient_store.close()
    with pytest.raises(Unavailable):
        await slow


async def test_commits_that_were_begun_are_finished_by_closing(
    tmp_path: Path, clock: ManualClock, now: datetime
) -> None:
    store = SqliteStore(tmp_path / "store.db", clock)
    await store.open([BOOKS], [LOANS])
    commits = [asyncio.create_task(store.commit([lend(now, "ann")])) for _ in range(700)]
    await asyncio.sleep(0)
    await store.close()
    assert [await each for each in commits] == [None] * 700
    await store.open([BOOKS], [LOANS])
    assert await store.count_entries(LOANS) == 700
    await store.close()


async def test_lists_follow_an_index_and_sort_nothing(impatient_store: SqliteStore, tmp_path: Path) -> None:
    books, loans = DocumentTable(SQLITE, BOOKS), EntryTable(SQLITE, LOANS)
    shelf = [Where("shelf", "=", "A")]
    connection = sqlite3.connect(tmp_path / "store.db")
    for statement, index in (
        (books.list([], 0, 0, 100, None), "book.created"),
        (books.list(shelf, 0, 0, 100, None), "book.c_shelf"),
        (books.list([], 0, 0, 100, "title"), "book.c_title"),
        (books.list([], 0, 0, 100, "shelf"), "book.c_shelf"),
        (loans.entries([], None, None, 0, 100, False), "loan.at"),
        (loans.entries([Where("reader", "=", "ann")], None, None, 0, 100, False), "loan.c_reader"),
    ):
        plan = " ".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement.sql}", statement.params))
        assert f"INDEX {index}" in plan
        assert "B-TREE" not in plan
    connection.close()


async def test_a_folder_that_does_not_exist_is_unavailable_by_name(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"none/store\.db: No such file or directory"):
        await SqliteStore(tmp_path / "none" / "store.db").open([BOOKS], [LOANS])
