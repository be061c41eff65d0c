"""Single documents: writing, reading, uniqueness, ETags, expiry, deletion."""

import asyncio
import dataclasses
from datetime import datetime, timedelta

import pytest

from penstock.kernel.clock import ManualClock
from penstock.kernel.errors import Invalid, NameTaken, NotFound, Stale, Unavailable
from penstock.kernel.ids import new_id
from penstock.kernel.wire import encode
from penstock.store.definition import Collection
from penstock.store.store import Document, Store
from penstock.store.write import Append, Delete
from tests.conformance.conftest import Database
from tests.conformance.library import BOOKS, LOANS, Book, book, insert, lend, replace


def document(book: Book) -> Document:
    assert book.e_tag is not None
    return Document(str(book.id), book.e_tag, encode(book))


async def test_a_document_comes_back_byte_for_byte(store: Store, now: datetime) -> None:
    odd = book(now, "Ünïcode ☃ 𝄞", notes={"b": 1.0, "a": [None, True, "\x00 \u2028 \\"], "big": 2**60, "": {}})
    await store.commit([insert(odd, now)])
    found = await store.get(BOOKS, odd.key)
    assert found == document(odd)
    assert found.id == odd.id


async def test_what_was_never_stored_is_none(store: Store) -> None:
    assert await store.get(BOOKS, new_id()) is None
    assert await store.find(BOOKS, "title", "Emma") is None
    assert await store.sealed(BOOKS, new_id()) is None
    assert await store.entry(LOANS, "none") is None


async def test_a_key_is_found_in_any_case_and_text_only_as_it_is(store: Store, now: datetime) -> None:
    emma = book(now, "Straße", isbn="abc")
    await store.commit([insert(emma, now)])
    assert await store.find(BOOKS, "title", "STRASSE") == document(emma)
    assert await store.find(BOOKS, "isbn", "abc") == document(emma)
    assert await store.find(BOOKS, "isbn", "ABC") is None


async def test_only_unique_columns_can_be_found_by(store: Store) -> None:
    with pytest.raises(ValueError, match="shelf"):
        await store.find(BOOKS, "shelf", "A")


async def test_a_commit_is_all_or_nothing(store: Store, now: datetime) -> None:
    emma = book(now, "Emma")
    with pytest.raises(NotFound):
        await store.commit([insert(emma, now), lend(now, "ann"), Delete(BOOKS, new_id(), now)])
    assert await store.count(BOOKS) == 0
    assert await store.count_entries(LOANS) == 0


async def test_writes_of_one_commit_see_each_other(store: Store, now: datetime) -> None:
    first = book(now, "Emma")
    second, change = replace(first, now, expected=first.e_tag, pages=10)
    await store.commit([insert(first, now), change])
    assert await store.get(BOOKS, first.key) == document(second)


@pytest.mark.parametrize("taken", [{"title": "EMMA"}, {"title": "Other", "isbn": "1"}])
async def test_a_taken_unique_value_is_refused(store: Store, now: datetime, taken: dict[str, str]) -> None:
    await store.commit([insert(book(now, "Emma", isbn="1"), now)])
    with pytest.raises(NameTaken, match="another book has the same title or isbn"):
        await store.commit([insert(book(now, **taken), now)])
    assert await store.count(BOOKS) == 1


async def test_a_taken_id_is_refused(store: Store, now: datetime) -> None:
    emma = book(now, "Emma")
    await store.commit([insert(emma, now)])
    with pytest.raises(NameTaken):
        await store.commit([insert(book(now, "Other", id=emma.key), now)])
    assert await store.get(BOOKS, emma.key) == document(emma)


async def test_many_documents_may_lack_a_unique_value(store: Store, now: datetime) -> None:
    await store.commit([insert(book(now, "One"), now), insert(book(now, "Two"), now)])
    assert await store.count(BOOKS) == 2


async def test_taking_a_name_by_replacement_is_refused(store: Store, now: datetime) -> None:
    emma, other = book(now, "Emma"), book(now, "Other")
    await store.commit([insert(emma, now), insert(other, now)])
    with pytest.raises(NameTaken, match="another book has the same title"):
        await store.commit([lend(now, "ann"), replace(other, now, title="emma")[1]])
    assert await store.get(BOOKS, other.key) == document(other)
    assert await store.count_entries(LOANS) == 0


async def test_a_name_given_up_in_the_same_commit_can_be_taken(store: Store, now: datetime) -> None:
    emma, other = book(now, "Emma"), book(now, "Other")
    await store.commit([insert(emma, now), insert(other, now)])
    renamed, give_up = replace(emma, now, title="Sanditon")
    taken, take = replace(other, now, title="Emma")
    await store.commit([give_up, take])
    assert await store.find(BOOKS, "title", "Emma") == document(taken)
    assert await store.find(BOOKS, "title", "Sanditon") == document(renamed)


async def test_of_many_that_want_a_name_at_once_one_gets_it(store: Store, now: datetime) -> None:
    wanting = [book(now, "Emma") for _ in range(20)]
    ends = await asyncio.gather(*(store.commit([insert(each, now)]) for each in wanting), return_exceptions=True)
    winners = [each for each, end in zip(wanting, ends, strict=True) if end is None]
    assert [await store.find(BOOKS, "title", "Emma")] == [document(each) for each in winners]
    assert sum(isinstance(end, NameTaken) for end in ends) == 19


async def test_a_replacement_with_the_current_etag_passes_and_with_another_is_stale(
    store: Store, now: datetime
) -> None:
    first = book(now, "Emma")
    second, change = replace(first, now, expected=first.e_tag, pages=1)
    _, late = replace(first, now, expected=first.e_tag, pages=2)
    await store.commit([insert(first, now)])
    await store.commit([change])
    with pytest.raises(Stale):
        await store.commit([late])
    assert await store.get(BOOKS, first.key) == document(second)


async def test_of_many_that_replace_the_same_etag_one_passes(store: Store, now: datetime) -> None:
    first = book(now, "Emma")
    await store.commit([insert(first, now)])
    changes = [replace(first, now, expected=first.e_tag, pages=pages) for pages in range(20)]
    ends = await asyncio.gather(*(store.commit([change]) for _, change in changes), return_exceptions=True)
    winners = [after for (after, _), end in zip(changes, ends, strict=True) if end is None]
    assert [await store.get(BOOKS, first.key)] == [document(after) for after in winners]
    assert sum(isinstance(end, Stale) for end in ends) == 19


async def test_deletion_checks_the_etag_too(store: Store, now: datetime) -> None:
    emma = book(now, "Emma")
    await store.commit([insert(emma, now)])
    with pytest.raises(Stale):
        await store.commit([Delete(BOOKS, emma.key, now, expected="other")])
    await store.commit([Delete(BOOKS, emma.key, now, expected=emma.e_tag)])
    assert await store.get(BOOKS, emma.key) is None


async def test_the_deleted_is_gone_and_its_name_and_id_are_free(store: Store, now: datetime) -> None:
    emma = book(now, "Emma", isbn="1")
    await store.commit([insert(emma, now, sealed=b"secret")])
    await store.commit([Delete(BOOKS, emma.key, now)])
    assert await store.find(BOOKS, "title", "Emma") is None
    assert await store.sealed(BOOKS, emma.key) is None
    assert await store.list(BOOKS) == []
    assert await store.values(BOOKS, ["title"]) == []
    with pytest.raises(NotFound, match="book"):
        await store.commit([Delete(BOOKS, emma.key, now)])
    with pytest.raises(NotFound):
        await store.commit([replace(emma, now)[1]])
    again = book(now, "Emma", id=emma.key, isbn="1")
    await store.commit([insert(again, now)])
    assert await store.list(BOOKS) == [document(again)]


async def test_the_expired_is_gone_and_its_name_and_id_are_free(
    store: Store, clock: ManualClock, now: datetime
) -> None:
    emma = book(now, "Emma", isbn="1")
    await store.commit([insert(emma, now, expires_at=now + timedelta(seconds=10), sealed=b"secret")])
    await clock.advance(timedelta(seconds=9.999999))
    assert await store.get(BOOKS, emma.key) == document(emma)
    await clock.advance(timedelta(microseconds=1))
    assert await store.get(BOOKS, emma.key) is None
    assert await store.find(BOOKS, "isbn", "1") is None
    assert await store.sealed(BOOKS, emma.key) is None
    assert await store.count(BOOKS) == 0
    for write in (Delete(BOOKS, emma.key, now), replace(emma, now)[1]):
        with pytest.raises(NotFound):
            await store.commit([write])
    other = book(now, "Other")
    await store.commit([insert(other, now)])
    renamed, take = replace(other, now, title="emma", isbn="1")
    again = book(now, "Emma again", id=emma.key)
    await store.commit([take, insert(again, now)])
    assert await store.list(BOOKS) == [document(again), document(renamed)]


async def test_a_replacement_sets_the_expiry_anew(store: Store, clock: ManualClock, now: datetime) -> None:
    emma = book(now, "Emma")
    await store.commit([insert(emma, now, expires_at=now + timedelta(seconds=10))])
    after, change = replace(emma, now)
    await store.commit([change])
    await clock.advance(timedelta(days=1))
    assert await store.get(BOOKS, emma.key) == document(after)


async def test_sealed_bytes_stay_beside_the_body(store: Store, now: datetime) -> None:
    emma = book(now, "Emma")
    await store.commit([insert(emma, now, sealed=b"\x00\xffone")])
    assert await store.sealed(BOOKS, emma.key) == b"\x00\xffone"
    await store.commit([dataclasses.replace(replace(emma, now)[1], keep_sealed=True)])
    assert await store.sealed(BOOKS, emma.key) == b"\x00\xffone"
    await store.commit([replace(emma, now)[1]])
    assert await store.sealed(BOOKS, emma.key) is None


async def test_what_is_sealed_beside_several_is_read_at_once(store: Store, now: datetime) -> None:
    books = [book(now, f"sealed-{number}") for number in range(4)]
    await store.commit([insert(each, now, sealed=each.title.encode()) for each in books[:3]])
    await store.commit([insert(books[3], now), Delete(BOOKS, books[2].key, now)])
    found = await store.all_sealed(BOOKS, [*(each.key for each in books), new_id()])
    assert found == {each.key: each.title.encode() for each in books[:2]}
    assert await store.all_sealed(BOOKS, []) == {}


async def test_what_no_column_can_hold_is_refused_by_name_and_found_nowhere(store: Store, now: datetime) -> None:
    for fields, name in (
        ({"title": "a\0b"}, "Title"),
        ({"title": "x" * 2001}, "Title"),
        ({"title": "ok", "pages": 2**63}, "Pages"),
        ({"title": "ok", "price": float("nan")}, "Price"),
    ):
        with pytest.raises(Invalid, match=name):
            await store.commit([insert(book(now, **fields), now)])
    with pytest.raises(Invalid, match="Reader"):
        await store.commit([lend(now, "\0")])
    assert await store.find(BOOKS, "title", "a\0b") is None
    assert await store.find(BOOKS, "title", "\ud800") is None
    assert await store.entry(LOANS, "\0") is None
    assert await store.count(BOOKS) == 0


async def test_the_longest_text_and_the_widest_numbers_fit(store: Store, now: datetime) -> None:
    wide = [
        book(now, "ü" * 1000, pages=2**63 - 1, price=1e308),
        book(now, "x" * 2000, shelf="y" * 2000, pages=-(2**63), price=-0.1),
    ]
    await store.commit([insert(each, now) for each in wide])
    assert await store.values(BOOKS, ["title", "pages", "price"]) == [
        (each.title, each.pages, each.price) for each in wide
    ]


async def test_an_empty_commit_does_nothing(store: Store) -> None:
    await store.commit([])
    await store.commit([Append(LOANS, [])])
    assert await store.count_entries(LOANS) == 0


async def test_many_commits_at_once_fail_alone(store: Store, now: datetime) -> None:
    titles = [f"Volume {number // 2}" for number in range(100)]
    ends = await asyncio.gather(
        *(store.commit([insert(book(now, each), now)]) for each in titles), return_exceptions=True
    )
    assert sum(end is None for end in ends) == 50
    assert sum(isinstance(end, NameTaken) for end in ends) == 50
    assert await store.count(BOOKS) == 50


async def test_a_cancelled_caller_leaves_the_others_alone(store: Store, now: datetime) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(store.commit([insert(book(now, f"V{number}"), now)])) for number in range(20)]
        await asyncio.sleep(0)
        tasks[3].cancel()
    titles = {title for (title,) in await store.values(BOOKS, ["title"])}
    assert titles | {"v3"} == {f"v{number}" for number in range(20)}


async def test_a_large_body_fits(store: Store, now: datetime) -> None:
    large = book(now, "Large", notes={"text": "x" * 20_000_000})
    await store.commit([insert(large, now)])
    assert await store.get(BOOKS, large.key) == document(large)


async def test_a_closed_store_is_unavailable(database: Database, now: datetime) -> None:
    store = database.store()
    await store.open([BOOKS], [LOANS])
    assert await store.ready()
    await store.close()
    assert not await store.ready()
    for call in (store.commit([lend(now, "ann")]), store.get(BOOKS, new_id()), store.list(BOOKS)):
        with pytest.raises(Unavailable):
            await call


async def test_what_was_committed_is_there_after_reopening(database: Database, now: datetime) -> None:
    emma = book(now, "Emma")
    for writes in ([insert(emma, now)], [lend(now, "ann")], []):
        store = database.store()
        await store.open([BOOKS], [LOANS])
        await store.commit(writes)
        await store.close()
    store = database.store()
    await store.open([BOOKS], [LOANS])
    assert await store.find(BOOKS, "title", "emma") == document(emma)
    assert await store.count_entries(LOANS) == 1
    await store.close()


async def test_a_collection_that_was_not_opened_is_an_error_of_the_program(store: Store, now: datetime) -> None:
    with pytest.raises(KeyError):
        await store.get(Collection("other", Book), new_id())
