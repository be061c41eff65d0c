"""What happens when the process, the disk or the database fails."""

import asyncio
import signal
import sqlite3
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import psycopg
import pytest

from penstock.kernel.clock import ManualClock
from penstock.kernel.errors import Invalid, NameTaken, Unavailable
from penstock.kernel.ids import new_id
from penstock.store.postgres import PostgresStore
from penstock.store.sqlite import SqliteStore
from penstock.store.store import Store
from tests.conformance.conftest import Database
from tests.conformance.library import BOOKS, LOANS, book, insert, lend, replace
from tests.postgres import PostgresServer

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def writing_process(url: str, *arguments: str) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.conformance.writing_process", url, *arguments, cwd=ROOT, stdin=PIPE, stdout=PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def read_line(process: Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()


async def kill_while_writing(url: str, acknowledged: int) -> list[str]:
    """The names that a writing process acknowledged before it was killed, at least so many."""
    async with writing_process(url) as process:
        names = [await read_line(process) for _ in range(acknowledged)]
        process.send_signal(signal.SIGKILL)
        assert process.stdout is not None
        names += (await process.stdout.read()).decode().split("\n")[:-1]
        await process.wait()
    assert all(names)
    return names


@pytest.mark.parametrize("acknowledged", [1, 50, 400])
async def test_what_was_acknowledged_survives_a_kill_and_no_commit_is_there_by_half(
    database: Database, acknowledged: int
) -> None:
    names = await kill_while_writing(database.url, acknowledged)
    store = database.store()
    await store.open([BOOKS], [LOANS])
    titles = {str(title) for (title,) in await store.values(BOOKS, ["title"])}
    assert [name for name in names if f"{name}a" not in titles] == []
    assert [title for title in titles if {f"{title[:-1]}a", f"{title[:-1]}b"} - titles] == []
    assert await store.count_entries(LOANS) == len(titles) / 2
    await store.close()


async def test_a_full_disk_is_unavailable_and_passes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    async with writing_process(url, "1000000") as process:
        acknowledged = 0
        while not (line := await read_line(process)).startswith("full"):
            acknowledged += line.isdigit()
        assert line == f"full: the disk does not answer as it should; {acknowledged} books"
        assert process.stdin is not None
        process.stdin.write(b"go on\n")
        assert await read_line(process) == "again"
        assert await process.wait() == 0


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


async def test_a_folder_that_does_not_exist_is_unavailable_by_name(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"none/store\.db: the database file cannot be opened"):
        await SqliteStore(tmp_path / "none" / "store.db").open([BOOKS], [LOANS])


@pytest.fixture
async def own_store(own_postgres_server: PostgresServer, clock: ManualClock) -> AsyncIterator[PostgresStore]:
    """On a server that the test may stop."""
    store = PostgresStore(own_postgres_server.new_database(), clock, patience=0.5)
    await store.open([BOOKS], [LOANS])
    try:
        yield store
    finally:
        await store.close()


async def use_all_connections(store: Store) -> None:
    await asyncio.gather(*(store.count(BOOKS) for _ in range(50)))


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_a_server_that_is_away_is_unavailable_and_the_store_recovers_by_itself(
    own_store: PostgresStore, own_postgres_server: PostgresServer, now: datetime, end: str
) -> None:
    await own_store.commit([lend(now, "before")])
    await use_all_connections(own_store)
    getattr(own_postgres_server, end)()
    for call in (own_store.commit([lend(now, "away")]), own_store.get(BOOKS, new_id()), own_store.list(BOOKS)):
        with pytest.raises(Unavailable):
            await call
    assert not await own_store.ready()
    own_postgres_server.start()
    while not await own_store.ready():
        await asyncio.sleep(0.05)
    await own_store.commit([lend(now, "after")])
    assert await own_store.count_entries(LOANS) == 2


async def test_a_restart_between_two_requests_is_not_noticed(
    own_store: PostgresStore, own_postgres_server: PostgresServer, now: datetime
) -> None:
    await use_all_connections(own_store)
    own_postgres_server.stop()
    own_postgres_server.start()
    await own_store.commit([lend(now, "ann")])
    assert await own_store.count_entries(LOANS) == 1


async def test_a_server_that_hangs_is_not_ready_within_a_second(
    own_store: PostgresStore, own_postgres_server: PostgresServer
) -> None:
    assert await own_store.ready()
    own_postgres_server.pause()
    assert [await own_store.ready() for _ in range(2)] == [False, False]
    own_postgres_server.resume()
    while not await own_store.ready():
        await asyncio.sleep(0.05)


async def test_a_commit_that_a_deadlock_ends_is_tried_again(
    postgres_url: str, clock: ManualClock, now: datetime
) -> None:
    store = PostgresStore(postgres_url, clock)
    await store.open([BOOKS], [LOANS])
    one, two = book(now, "one"), book(now, "two")
    await store.commit([insert(one, now), insert(two, now)])
    # What follows the second lock is more than fits into the socket, and so is still on its way when the error comes.
    large = [insert(book(now, f"large {number}", notes={"text": "x" * 1_000_000}), now) for number in range(4)]
    changes = [replace(one, now, pages=1)[1], replace(two, now, pages=2)[1]]
    lock = "UPDATE book SET c_pages = c_pages WHERE c_title = %s"
    async with await psycopg.AsyncConnection.connect(postgres_url) as other:
        await other.execute("SET deadlock_timeout = '60s'")  # it is the store that finds the deadlock and gives way
        await other.execute(lock, ["two"])
        commit = asyncio.create_task(store.commit([*changes, *large]))
        while not await waits_for_lock(postgres_url):
            await asyncio.sleep(0.01)
        await other.execute(lock, ["one"])
    await commit
    assert await store.values(BOOKS, ["pages"]) == [(1,), (2,), (0,), (0,), (0,), (0,)]
    await store.close()


async def waits_for_lock(url: str) -> bool:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        cursor = await connection.execute(
            "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        return await cursor.fetchone() is not None


async def test_a_server_that_is_away_at_the_start_is_unavailable(own_postgres_server: PostgresServer) -> None:
    url = own_postgres_server.new_database()
    own_postgres_server.stop()
    with pytest.raises(Unavailable):
        await PostgresStore(url).open([BOOKS], [LOANS])
    own_postgres_server.start()
