import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.areas.entitystore.pattern import Pattern
from penstock.bus.bus import Bus
from penstock.bus.keyvalue import Bucket, BucketSpec
from penstock.protocol.entity_key import BUCKET, HISTORY, entity_key
from tests.application import Application, running_application

PATH = "/integrations/entitystore"
LONG_AGO = "2020-01-01T00:00:00Z"


class Kind:
    """A type of entities that only one test uses."""

    def __init__(self, application: Application) -> None:
        self.name = f"t{uuid4().hex}"
        self._application = application

    async def put(self, id: str, data: str, **headers: str) -> httpx.Response:
        body = {"Type": self.name, "Id": id, "Data": data}
        return await self._application.operator.put(PATH, json=body, headers=headers)

    async def get(self, id: str) -> httpx.Response:
        return await self._application.reader.get(PATH, params={"entityType": self.name, "entityId": id})

    async def delete(self, id: str, **headers: str) -> httpx.Response:
        query = {"entityType": self.name, "entityId": id}
        return await self._application.operator.delete(PATH, params=query, headers=headers)

    async def search(self, id: str = "*", **query: Any) -> tuple[list[tuple[str, str]], bool]:
        """The ids and data found, and whether the limit cut them."""
        wanted = {"entityType": self.name, "entityId": id, "limit": 100, "fromDate": LONG_AGO, "includeHistory": False}
        answer = await self._application.reader.get(f"{PATH}/search", params={**wanted, **query})
        assert answer.status_code == 200, answer.text
        found = answer.json()
        return [(each["Id"], each["Data"]) for each in found["Data"]], found["LimitReached"]


@pytest.fixture
def kind(application: Application) -> Kind:
    return Kind(application)


@pytest.fixture
async def empty_application(tmp_path: Path) -> AsyncIterator[Application]:
    async with running_application(tmp_path, PENSTOCK_ENTITY_STORE_DAYS="7") as running:
        yield running


# Reading


async def test_the_latest_value_is_read_with_its_revision(kind: Kind) -> None:
    await kind.put("lamp-1", '{"on":false}')
    stored = await kind.put("lamp-1", '{"on":true}')
    found = await kind.get("lamp-1")
    assert found.json() == {"Key": f"{kind.name}.lamp-1", "Value": '{"on":true}'}
    assert found.headers["etag"] == stored.headers["etag"]


async def test_an_entity_that_does_not_exist_is_not_found(kind: Kind) -> None:
    answer = await kind.get("none")
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


@pytest.mark.parametrize("id", ["a.b", "a b", "*", ">", "ä/ö", "x=41", "\n", "a" * 1000, "100 %", "..", "日本"])
async def test_any_text_is_an_id(kind: Kind, id: str) -> None:
    assert (await kind.put(id, "1")).status_code == 200
    assert (await kind.get(id)).json()["Value"] == "1"
    assert await kind.search() == ([(id, "1")], False)
    assert await kind.search(id) == ([(id, "1")], False)


async def test_what_channels_write_to_the_bucket_is_read(application: Application, kind: Kind) -> None:
    bucket = Bucket(application.platform.container.get(Bus), BucketSpec(bucket=BUCKET, history=HISTORY))
    await bucket.put(entity_key(kind.name, "a.b"), b"text")
    await bucket.put(entity_key(kind.name, "binary"), b"\xff")
    assert (await kind.get("a.b")).json()["Value"] == "text"
    assert (await kind.get("binary")).json()["Value"] == "\ufffd"


async def test_keys_that_others_wrote_in_another_form_disturb_nobody(application: Application, kind: Kind) -> None:
    bucket = Bucket(application.platform.container.get(Bus), BucketSpec(bucket=BUCKET, history=HISTORY))
    for key in (f"{kind.name}.a.b", kind.name, f"{kind.name}.=zz"):
        await bucket.put(key, b"1")
    assert await kind.search() == ([], False)


# Writing


async def test_a_value_is_only_replaced_while_its_revision_is_the_latest(kind: Kind) -> None:
    first = (await kind.put("a", "1")).headers["etag"]
    assert (await kind.put("a", "2", **{"If-Match": first})).status_code == 200
    for stale in (first, '"x"', '"-1"', '"99999999999999999999999"'):
        answer = await kind.put("a", "3", **{"If-Match": stale})
        assert (answer.status_code, answer.json()["code"]) == (412, "stale")
    assert (await kind.get("a")).json()["Value"] == "2"


async def test_of_many_writers_of_one_revision_one_wins(kind: Kind) -> None:
    first = (await kind.put("a", "0")).headers["etag"]
    answers = await asyncio.gather(*(kind.put("a", str(n), **{"If-Match": first}) for n in range(1, 9)))
    assert sorted(answer.status_code for answer in answers) == [200] + [412] * 7


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"Id": "a", "Data": "1"}, ["Type"]),
        ({"Type": "a", "Id": "", "Data": "1"}, ["Id"]),
        ({"Data": "1"}, ["Type", "Id"]),
        ({"Type": "a", "Id": "b"}, ["Data"]),
        ({"Type": "a", "Id": "b" * 1025, "Data": "1"}, ["Id"]),
        ({"Type": "a", "Id": "b", "Data": 1}, ["Data"]),
        ({"Type": "a", "Id": "b", "Data": "1", "Colour": "red"}, ["Colour"]),
    ],
)
async def test_a_bad_entity_is_refused_by_field(
    application: Application, body: dict[str, Any], fields: list[str]
) -> None:
    answer = await application.operator.put(PATH, json=body)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == fields


async def test_a_value_over_the_limit_is_too_large(kind: Kind) -> None:
    assert (await kind.put("a", "x" * (1 << 20))).status_code == 413
    assert (await kind.get("a")).status_code == 404


async def test_changes_by_people_are_in_the_entity_event_store_without_the_value(
    application: Application, kind: Kind
) -> None:
    await kind.put("a", "hidden")
    await kind.delete("a")
    query = {"entityId": f"{kind.name}.a", "fromDate": LONG_AGO, "toDate": "2100-01-01T00:00:00Z"}
    events = (await application.admin.get("/events/store", params=query)).json()
    assert [(event["EventType"], event["Source"]) for event in events] == [
        ("entities.deleted", "operator@example.com"),
        ("entities.updated", "operator@example.com"),
    ]
    assert "hidden" not in str(events)


# Erasing


async def test_an_erased_entity_is_gone_with_its_history(kind: Kind) -> None:
    await kind.put("a", "1")
    await kind.put("a", "2")
    assert (await kind.delete("a")).status_code == 200
    assert (await kind.get("a")).status_code == 404
    assert await kind.search(includeHistory=True) == ([], False)
    assert (await kind.delete("a")).status_code == 404


async def test_an_entity_is_only_erased_while_its_revision_is_the_latest(kind: Kind) -> None:
    first = (await kind.put("a", "1")).headers["etag"]
    second = (await kind.put("a", "2")).headers["etag"]
    assert (await kind.delete("a", **{"If-Match": first})).status_code == 412
    assert (await kind.delete("a", **{"If-Match": second})).status_code == 200


# Searching


async def test_a_search_gives_the_latest_value_of_each_newest_first(kind: Kind) -> None:
    for id, data in (("a", "1"), ("b", "1"), ("a", "2"), ("c", "1")):
        await kind.put(id, data)
    assert await kind.search() == ([("c", "1"), ("a", "2"), ("b", "1")], False)


async def test_a_search_with_history_gives_every_value_kept(kind: Kind) -> None:
    for data in range(12):
        await kind.put("a", str(data))
    found, cut = await kind.search("a", includeHistory=True)
    assert (found, cut) == ([("a", str(data)) for data in range(11, 1, -1)], False)


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        ("hall-1", ["hall-1"]),
        ("hall-*", ["hall-2", "hall-1"]),
        ("*-1", ["roof-1", "hall-1"]),
        ("*a*-*", ["hall-2", "hall-1"]),
        ("*", ["roof-1", "hall-2", "hall-1"]),
        ("HALL-1", []),
        ("hall", []),
    ],
)
async def test_a_star_stands_for_any_characters(kind: Kind, id: str, expected: list[str]) -> None:
    for each in ("hall-1", "hall-2", "roof-1"):
        await kind.put(each, "1")
    assert [found for found, _ in (await kind.search(id))[0]] == expected


async def test_types_may_be_searched_too(application: Application, kind: Kind) -> None:
    await kind.put("a", "1")
    assert await kind.search(entityType=f"*{kind.name[8:]}") == ([("a", "1")], False)
    assert await kind.search(entityType=f"{kind.name}*x") == ([], False)


@pytest.mark.parametrize(
    ("limit", "expected"), [(0, ([], True)), (1, (["b"], True)), (2, (["b", "a"], False)), (9, (["b", "a"], False))]
)
async def test_the_limit_tells_when_it_cut(kind: Kind, limit: int, expected: tuple[list[str], bool]) -> None:
    await kind.put("a", "1")
    await kind.put("b", "1")
    await kind.put("b", "2")
    found, cut = await kind.search(limit=limit)
    assert ([id for id, _ in found], cut) == expected


async def test_a_search_goes_back_to_its_date_only(kind: Kind) -> None:
    await kind.put("old", "1")
    await kind.put("both", "1")
    since = datetime.now(UTC).isoformat()
    await kind.put("both", "2")
    await kind.put("new", "1")
    assert await kind.search(fromDate=since) == ([("new", "1"), ("both", "2")], False)
    assert await kind.search(fromDate=since, includeHistory=True) == ([("new", "1"), ("both", "2")], False)


async def test_a_search_reads_as_many_pages_as_it_takes(application: Application, kind: Kind) -> None:
    bucket = Bucket(application.platform.container.get(Bus), BucketSpec(bucket=BUCKET, history=HISTORY))
    await bucket.put(entity_key(kind.name, "first"), b"1")
    for number in range(450):
        await bucket.put(entity_key(kind.name, f"other-{number % 50}"), b"1")
    assert await kind.search("f*") == ([("first", "1")], False)
    assert len((await kind.search(limit=1000))[0]) == 51
    assert (await kind.search(limit=50))[1]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"limit": 1001}, "limit"),
        ({"limit": -1}, "limit"),
        ({"fromDate": "soon"}, "fromDate"),
        ({"includeHistory": "perhaps"}, "includeHistory"),
        ({"entityType": ""}, "entityType"),
        ({"entityId": None}, "entityId"),
    ],
)
async def test_a_search_out_of_bounds_is_refused_by_name(
    application: Application, change: dict[str, Any], field: str
) -> None:
    wanted = {"entityType": "a", "entityId": "*", "limit": 1, "fromDate": LONG_AGO, "includeHistory": False, **change}
    query = {name: value for name, value in wanted.items() if value is not None}
    answer = await application.reader.get(f"{PATH}/search", params=query)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


# The store as a whole


async def test_the_store_tells_what_it_holds(empty_application: Application) -> None:
    kind = Kind(empty_application)
    reader = empty_application.reader
    assert (await reader.get(f"{PATH}/info")).json() == {
        "EntitiesStored": 0,
        "EntitiesStoredIncludingHistory": 0,
        "HistoryKept": 10,
        "Size": 0,
        "MaxSize": -1,
        "MaximumAge": "7.00:00:00",
    }
    for id, data in (("a", "1"), ("a", "2"), ("b", "1")):
        await kind.put(id, data)
    found = (await reader.get(f"{PATH}/info")).json()
    assert (found["EntitiesStored"], found["EntitiesStoredIncludingHistory"]) == (2, 3)
    assert found["Size"] > 0
    await kind.delete("a")
    found = (await reader.get(f"{PATH}/info")).json()
    assert (found["EntitiesStored"], found["EntitiesStoredIncludingHistory"]) == (1, 1)


async def test_readers_do_not_write(application: Application) -> None:
    query = {"entityType": "a", "entityId": "b"}
    assert (await application.reader.put(PATH, json={"Type": "a", "Id": "b", "Data": "1"})).status_code == 403
    assert (await application.reader.delete(PATH, params=query)).status_code == 403


# Patterns

letters = st.text("ab*", max_size=8)


@given(letters, st.text("ab", max_size=8))
def test_patterns_match_as_the_plain_definition_says(pattern: str, text: str) -> None:
    assert Pattern(pattern).matches(text) == plainly(pattern, text)


def plainly(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return plainly(pattern[1:], text) or (bool(text) and plainly(pattern, text[1:]))
    return bool(text) and pattern[0] == text[0] and plainly(pattern[1:], text[1:])
