"""Journals: appending, reading by time and column, keeping."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from penstock.kernel.wire import encode
from penstock.store.store import Store, Where
from penstock.store.write import Append
from tests.conformance.library import LOANS, Loan


def loans(now: datetime) -> list[Loan]:
    """Two at the same time, then one a second."""
    seconds = [0, 0, 1, 2, 3]
    return [
        Loan(id=f"l{number}", at=now + timedelta(seconds=each), reader="ann" if number % 2 else "bob")
        for number, each in enumerate(seconds)
    ]


async def test_entries_come_newest_first_or_oldest_first(store: Store, now: datetime) -> None:
    entries = loans(now)
    await store.commit([Append(LOANS, entries)])
    assert await store.entries(LOANS) == [encode(each) for each in reversed(entries)]
    assert await store.entries(LOANS, oldest_first=True) == [encode(each) for each in entries]


async def test_entries_order_by_their_time_and_not_by_their_arrival(store: Store, now: datetime) -> None:
    late, early = Loan(id="1", at=now, reader="ann"), Loan(id="2", at=now - timedelta(days=1), reader="ann")
    await store.commit([Append(LOANS, [late])])
    await store.commit([Append(LOANS, [early])])
    assert await store.entries(LOANS) == [encode(late), encode(early)]


async def test_an_entry_whose_key_is_present_is_passed_over(store: Store, now: datetime) -> None:
    first, *rest = loans(now)
    await store.commit([Append(LOANS, [first])])
    changed = Loan(id=first.id, at=now, reader="other")
    await store.commit([Append(LOANS, [changed, *rest, changed])])
    assert await store.count_entries(LOANS) == 5
    assert await store.entry(LOANS, first.id) == encode(first)
    assert await store.count_entries(LOANS, [Where("reader", "=", "other")]) == 0


async def test_an_entry_that_shall_replace_takes_the_place_of_the_one_with_its_key(store: Store, now: datetime) -> None:
    first, *rest = loans(now)
    await store.commit([Append(LOANS, [first, rest[0]])])
    changed = Loan(id=first.id, at=now + timedelta(days=1), reader="other")
    await store.commit([Append(LOANS, [changed, *rest], replace=True)])
    assert await store.count_entries(LOANS) == 5
    assert (await store.entries(LOANS))[0] == encode(changed)
    assert await store.entries(LOANS, [Where("reader", "=", "other")]) == [encode(changed)]


async def test_a_time_range_begins_with_since_and_ends_before_until(store: Store, now: datetime) -> None:
    entries = loans(now)
    await store.commit([Append(LOANS, entries)])
    second = timedelta(seconds=1)
    assert await store.entries(LOANS, since=now + second, until=now + 3 * second) == [
        encode(entries[3]),
        encode(entries[2]),
    ]
    assert await store.entries(LOANS, until=now) == []
    assert len(await store.entries(LOANS, since=now)) == 5


async def test_times_are_exact_to_the_microsecond_in_any_zone(store: Store) -> None:
    at = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    early = datetime(1, 1, 1, tzinfo=UTC)
    await store.commit([Append(LOANS, [Loan(id="1", at=at, reader="ann"), Loan(id="2", at=early, reader="ann")])])
    zone = timezone(-timedelta(hours=5))
    assert len(await store.entries(LOANS, since=at.astimezone(zone))) == 1
    assert len(await store.entries(LOANS, until=at)) == 1
    assert len(await store.entries(LOANS, since=early + timedelta(microseconds=1))) == 1


async def test_entries_are_chosen_by_column_and_paged(store: Store, now: datetime) -> None:
    entries = loans(now)
    await store.commit([Append(LOANS, entries)])
    bob = [encode(each) for each in reversed(entries) if each.reader == "bob"]
    where = [Where("reader", "=", "bob")]
    assert await store.entries(LOANS, where) == bob
    assert await store.entries(LOANS, where, skip=1, limit=1) == bob[1:2]
    assert await store.count_entries(LOANS, where) == 3


async def test_an_unknown_column_is_an_error_of_the_program(store: Store) -> None:
    with pytest.raises(ValueError, match="color"):
        await store.entries(LOANS, [Where("color", "=", "red")])


async def test_thousands_of_entries_fit_into_one_commit(store: Store, now: datetime) -> None:
    await store.commit([Append(LOANS, [Loan(id=str(number), at=now, reader="ann") for number in range(5000)])])
    assert await store.count_entries(LOANS) == 5000
