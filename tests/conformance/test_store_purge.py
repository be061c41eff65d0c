"""Purging: what was deleted or expired long enough ago, and entries past their keep, go for good."""

from datetime import datetime, timedelta
from pathlib import Path

from penstock.kernel.clock import ManualClock
from penstock.store.connect import store_for
from penstock.store.store import Store
from penstock.store.write import Append, Delete
from tests.conformance.library import BOOKS, LOANS, Loan, book, insert, lend

MONTH = timedelta(days=30)


async def test_the_live_and_the_lately_deleted_stay(store: Store, now: datetime) -> None:
    kept, deleted, expiring = book(now, "kept"), book(now, "deleted"), book(now, "expiring")
    await store.commit([insert(kept, now), insert(deleted, now)])
    await store.commit([insert(expiring, now, expires_at=now), Delete(BOOKS, deleted.key, now)])
    just_before = now + MONTH - timedelta(microseconds=1)
    assert await store.purge(just_before, MONTH) == 0
    assert await store.purge(now + MONTH, MONTH) == 2
    assert await store.purge(now + MONTH, MONTH) == 0
    assert [each.id for each in await store.list(BOOKS)] == [kept.key]


async def test_entries_older_than_the_journal_keeps_go(store: Store, now: datetime) -> None:
    await store.commit([lend(now - timedelta(days=10), "ann", id="edge")])
    await store.commit([lend(now - timedelta(days=10, microseconds=1), "ann", id="old")])
    assert await store.purge(now, MONTH) == 1
    assert await store.entry(LOANS, "edge") is not None
    assert await store.entry(LOANS, "old") is None


async def test_a_large_purge_goes_in_parts_and_counts_all(store: Store, now: datetime) -> None:
    old = now - timedelta(days=11)
    await store.commit([Append(LOANS, [Loan(id=str(number), at=old, reader="ann") for number in range(1203)])])
    assert await store.purge(now, MONTH) == 1203
    assert await store.count_entries(LOANS) == 0


async def test_what_was_purged_is_in_the_file_no_more(tmp_path: Path, clock: ManualClock, now: datetime) -> None:
    path = tmp_path / "store.db"
    store = store_for(f"sqlite:///{path}", clock)
    await store.open([BOOKS], [LOANS])
    telling = book(now, "telling", shelf="a-word-to-look-for")
    await store.commit([insert(telling, now, sealed=b"sealed-to-look-for")])
    await store.commit([Delete(BOOKS, telling.key, now)])
    await store.purge(now + MONTH, MONTH)
    await store.close()
    left = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert b"to-look-for" not in left
