"""What only PostgreSQL has: a server that goes away or hangs, deadlocks."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime

import psycopg
import pytest

from penstock.kernel.clock import ManualClock
from penstock.kernel.errors import Unavailable
from penstock.kernel.ids import new_id
from penstock.store.postgres import PostgresStore
from penstock.store.store import Store
from tests.conformance.library import BOOKS, LOANS, book, insert, lend, replace
from tests.postgres import PostgresServer


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


async def test_a_commit_whose_outcome_is_unknown_is_not_tried_again(
    postgres_url: str, clock: ManualClock, now: datetime
) -> None:
    store = PostgresStore(postgres_url, clock)
    await store.open([BOOKS], [LOANS])
    async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as other:
        await other.execute("CREATE SEQUENCE commits")
        await other.execute(
            "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN PERFORM nextval(''commits''); PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END'"
        )
        await other.execute(
            "CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON loan "
            "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION die()"
        )
        with pytest.raises(Unavailable):
            await store.commit([lend(now, "ann")])
        cursor = await other.execute("SELECT last_value FROM commits")
        assert await cursor.fetchone() == (1,)
    assert await store.count_entries(LOANS) == 0
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
