"""Commits that need a document to be there, though they do not change it."""

import asyncio
from datetime import datetime, timedelta

import pytest

from penstock.kernel.clock import ManualClock
from penstock.kernel.errors import NotFound, Stale
from penstock.kernel.ids import new_id
from penstock.store.store import Store
from penstock.store.write import Delete, Require
from tests.conformance.library import BOOKS, LOANS, book, insert, lend, replace


async def test_a_commit_happens_while_the_document_is_there(store: Store, now: datetime) -> None:
    emma = book(now, "Emma")
    await store.commit([insert(emma, now)])
    await store.commit([Require(BOOKS, emma.key), lend(now, "ann")])
    await store.commit([lend(now, "bob"), Require(BOOKS, emma.key, expected=emma.e_tag)])
    assert await store.count_entries(LOANS) == 2
    found = await store.get(BOOKS, emma.key)
    assert found is not None
    assert found.e_tag == emma.e_tag


async def test_nothing_is_kept_when_it_is_not_there_or_was_changed(
    store: Store, now: datetime, clock: ManualClock
) -> None:
    emma, gone, expiring = book(now, "Emma"), book(now, "Gone"), book(now, "Expiring")
    changed, change = replace(emma, now, pages=1)
    writes = [insert(emma, now), insert(gone, now), insert(expiring, now, expires_at=now + timedelta(seconds=1))]
    await store.commit([*writes, change, Delete(BOOKS, gone.key, now)])
    await clock.advance(timedelta(seconds=1))
    for id in (new_id(), gone.key, expiring.key):
        with pytest.raises(NotFound):
            await store.commit([lend(now, "ann"), Require(BOOKS, id)])
    with pytest.raises(Stale):
        await store.commit([lend(now, "ann"), Require(BOOKS, emma.key, expected=emma.e_tag)])
    await store.commit([Require(BOOKS, emma.key, expected=changed.e_tag)])
    assert await store.count_entries(LOANS) == 0


async def test_of_two_that_each_need_what_the_other_deletes_one_happens(store: Store, now: datetime) -> None:
    for attempt in range(3):
        pair = [book(now, f"{attempt}.{number}") for number in range(2)]
        await store.commit([insert(each, now) for each in pair])
        commits = [[Require(BOOKS, kept.key), Delete(BOOKS, lost.key, now)] for kept, lost in (pair, pair[::-1])]
        outcomes = await asyncio.gather(*map(store.commit, commits), return_exceptions=True)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NoneType", "NotFound"]
        left = [each for each in pair if await store.get(BOOKS, each.key)]
        assert len(left) == 1
