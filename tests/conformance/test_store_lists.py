"""Lists, counts and column values."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from penstock.kernel.errors import Invalid
from penstock.kernel.wire import encode
from penstock.store.definition import Value
from penstock.store.store import Store, Where
from penstock.store.write import Delete
from tests.conformance.library import BOOKS, Book, book, insert, replace


async def shelve(store: Store, now: datetime) -> list[Book]:
    """Six books, a second apart."""
    books = [
        book(now, "Emma", shelf="A", pages=100, price=1.5, isbn="1"),
        book(now, "emmaüs", shelf="A", pages=200, price=-2.5, lent=True),
        book(now, "Zoo", shelf="B", pages=300, price=0.0),
        book(now, "Żubr", shelf=None, pages=300, isbn="3"),
        book(now, "e", shelf="a", pages=-1),
        book(now, "日本", shelf="B\U0010ffff", pages=0),
    ]
    for number, each in enumerate(books):
        await store.commit([insert(each, now + timedelta(seconds=number))])
    return books


@pytest.mark.parametrize(
    ("where", "titles"),
    [
        ([], ["Emma", "emmaüs", "Zoo", "Żubr", "e", "日本"]),
        ([Where("shelf", "=", "A")], ["Emma", "emmaüs"]),
        ([Where("shelf", "=", None)], ["Żubr"]),
        ([Where("shelf", "!=", None)], ["Emma", "emmaüs", "Zoo", "e", "日本"]),
        ([Where("shelf", "!=", "A")], ["Zoo", "Żubr", "e", "日本"]),
        ([Where("shelf", ">", None)], []),
        ([Where("shelf", ">", "B")], ["e", "日本"]),
        ([Where("shelf", "in", ["B", "a", "none"])], ["Zoo", "e"]),
        ([Where("shelf", "in", [None, "B"])], ["Zoo", "Żubr"]),
        ([Where("shelf", "in", [])], []),
        ([Where("shelf", "prefix", "B")], ["Zoo", "日本"]),
        ([Where("shelf", "prefix", "")], ["Emma", "emmaüs", "Zoo", "e", "日本"]),
        ([Where("shelf", "prefix", "B\U0010ffff")], ["日本"]),
        ([Where("shelf", "prefix", "\ud7ff")], []),
        ([Where("title", "=", "EMMA")], ["Emma"]),
        ([Where("title", "prefix", "EM")], ["Emma", "emmaüs"]),
        ([Where("title", "in", ["ZOO", "E"])], ["Zoo", "e"]),
        ([Where("pages", "=", 300)], ["Zoo", "Żubr"]),
        ([Where("pages", ">=", 200)], ["emmaüs", "Zoo", "Żubr"]),
        ([Where("pages", "<", 0)], ["e"]),
        ([Where("pages", "<=", 0)], ["e", "日本"]),
        ([Where("price", "<", 0.0)], ["emmaüs"]),
        ([Where("price", ">", 1)], ["Emma"]),
        ([Where("lent", "=", True)], ["emmaüs"]),
        ([Where("lent", "=", False), Where("shelf", "=", "A")], ["Emma"]),
        ([Where("e_tag", "=", "none")], []),
    ],
)
async def test_conditions_choose(store: Store, now: datetime, where: Sequence[Where], titles: list[str]) -> None:
    books = await shelve(store, now)
    wanted = [each for each in books if each.title in titles]
    found = await store.list(BOOKS, where)
    assert [each.body for each in found] == [encode(each) for each in reversed(wanted)]
    assert await store.count(BOOKS, where) == len(wanted)
    assert await store.values(BOOKS, ["id"], where) == [(str(each.id),) for each in wanted]


async def test_documents_are_chosen_by_id_in_any_case(store: Store, now: datetime) -> None:
    books = await shelve(store, now)
    ids: list[Value] = [str(books[0].key).upper(), str(books[4].key), "none"]
    assert [each.id for each in await store.list(BOOKS, [Where("id", "in", ids)])] == [books[4].key, books[0].key]


async def test_a_list_is_newest_first_by_creation_and_changes_do_not_move(store: Store, now: datetime) -> None:
    later, earlier, same = book(now, "later"), book(now, "earlier"), book(now, "same")
    await store.commit([insert(later, now + timedelta(seconds=1)), insert(earlier, now), insert(same, now)])
    await store.commit([replace(earlier, now + timedelta(hours=1))[1]])
    assert [each.id for each in await store.list(BOOKS)] == [later.key, same.key, earlier.key]


@pytest.mark.parametrize(
    ("order", "titles"),
    [
        ("title", ["e", "Emma", "emmaüs", "Zoo", "Żubr", "日本"]),
        ("pages", ["e", "日本", "Emma", "emmaüs", "Zoo", "Żubr"]),
        ("shelf", ["Żubr", "Emma", "emmaüs", "Zoo", "日本", "e"]),
        ("price", ["emmaüs", "Zoo", "Żubr", "e", "日本", "Emma"]),
    ],
)
async def test_a_list_can_ascend_by_a_column_with_none_first(
    store: Store, now: datetime, order: str, titles: list[str]
) -> None:
    by_title = {each.title: encode(each) for each in await shelve(store, now)}
    assert [each.body for each in await store.list(BOOKS, order=order)] == [by_title[each] for each in titles]


async def test_pages_of_a_list_join_without_gap_or_overlap(store: Store, now: datetime) -> None:
    books = await shelve(store, now)
    pages = [await store.list(BOOKS, skip=skip, limit=4) for skip in (0, 4, 8)]
    assert [len(page) for page in pages] == [4, 2, 0]
    assert [each.id for page in pages for each in page] == [each.key for each in reversed(books)]
    assert await store.list(BOOKS, limit=0) == []


async def test_values_come_oldest_first_and_from_live_documents_only(store: Store, now: datetime) -> None:
    emma, *others, last = await shelve(store, now)
    await store.commit([Delete(BOOKS, each.key, now) for each in others])
    assert await store.values(BOOKS, ["title", "pages", "price", "lent", "isbn", "id", "e_tag"]) == [
        ("emma", 100, 1.5, 0, "1", str(emma.id), emma.e_tag),
        ("日本", 0, 0.0, 0, None, str(last.id), last.e_tag),
    ]


async def test_many_values_can_be_asked_for_at_once(store: Store, now: datetime) -> None:
    await shelve(store, now)
    assert await store.count(BOOKS, [Where("pages", "in", range(30_000))]) == 5


@pytest.mark.parametrize(
    "where",
    [
        Where("color", "=", "red"),
        Where("body", "=", "{}"),
        Where("shelf", "like", "A"),
        Where("shelf", "=", ["A"]),
        Where("shelf", "in", "A"),
        Where("pages", "prefix", 1),
    ],
)
async def test_a_condition_that_makes_no_sense_is_an_error_of_the_program(store: Store, where: Where) -> None:
    with pytest.raises(ValueError, match=f"{where.column}|{where.op}"):
        await store.list(BOOKS, [where])


async def test_a_value_that_no_column_can_hold_is_invalid(store: Store) -> None:
    for where in (Where("shelf", "=", "\0"), Where("pages", ">", 2**63), Where("shelf", "prefix", "\ud800")):
        with pytest.raises(Invalid, match=r"Shelf|Pages"):
            await store.list(BOOKS, [where])


async def test_names_and_values_are_never_taken_for_sql(store: Store, now: datetime) -> None:
    hostile = "'; DROP TABLE book; -- %s ? \" \\"
    await store.commit([insert(book(now, hostile, shelf=hostile), now)])
    assert await store.count(BOOKS, [Where("shelf", "=", hostile)]) == 1
    assert await store.find(BOOKS, "title", hostile) is not None
