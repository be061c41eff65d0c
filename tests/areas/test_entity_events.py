"""The entity event store over HTTP."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

import httpx
import pytest

from penstock.kernel.actor import SYSTEM
from penstock.resource.audit import audit
from penstock.store.store import Store
from tests.application import Application

START = datetime(2026, 3, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def entity() -> str:
    """The id of an entity that nobody else has."""
    return str(uuid4())


async def record(application: Application, entity: str, *times: datetime) -> None:
    """Writes one event for each time, named by its number."""
    writes = [
        audit(str(number), "things", entity, actor=SYSTEM, at=at, subject="a thing", before={"N": number - 1})
        for number, at in enumerate(times)
    ]
    await application.platform.container.get(Store).commit(writes)


async def ask(application: Application, entity: str, since: datetime, until: datetime) -> httpx.Response:
    query = {"entityId": entity, "fromDate": since.isoformat(), "toDate": until.isoformat()}
    answer = await application.admin.get("/events/store", params=query)
    assert answer.status_code == 200, answer.text
    return answer


def numbers(events: list[dict[str, Any]]) -> list[int]:
    return [int(event["EventType"].removeprefix("things.")) for event in events]


async def test_events_of_an_entity_come_newest_first(application: Application, entity: str) -> None:
    await record(application, entity, START, START + SECOND, START + 2 * SECOND)
    await record(application, str(uuid4()), START)
    events = (await ask(application, entity, START, START + 3 * SECOND)).json()
    assert numbers(events) == [2, 1, 0]
    assert {event["EntityId"] for event in events} == {entity}


async def test_the_interval_has_its_begin_and_not_its_end(application: Application, entity: str) -> None:
    await record(application, entity, START, START + SECOND, START + 2 * SECOND)
    events = (await ask(application, entity, START + SECOND, START + 2 * SECOND)).json()
    assert numbers(events) == [1]
    assert (await ask(application, entity, START + SECOND, START + SECOND)).json() == []


async def test_an_event_is_read_by_its_id_with_every_field(application: Application, entity: str) -> None:
    await record(application, entity, START)
    [listed] = (await ask(application, entity, START, START + SECOND)).json()
    read = await application.admin.get(f"/events/store/{listed['Id']}")
    assert read.json() == listed
    assert listed["EntityType"] == "things"
    assert (listed["Subject"], listed["Source"], listed["CreatedBy"]) == ("a thing", "system", "system")
    assert listed["CreatedDate"] == "2026-03-01T00:00:00Z"
    assert json.loads(listed["Content"]) == {"Before": {"N": -1}, "After": None}
    assert listed.keys() >= {"ETag", "UpdatedBy", "UpdateDate", "TimeToLive", "IsDeleted"}


async def test_dates_may_have_an_offset_none_or_no_time(application: Application, entity: str) -> None:
    await record(application, entity, START)
    for since, until in (
        ("2026-03-01", "2026-03-02"),
        ("2026-03-01T00:00:00", "2026-03-01T00:00:01"),
        ("2026-03-01T01:00:00+01:00", "2026-03-01T01:00:01+01:00"),
    ):
        query = {"entityId": entity, "fromDate": since, "toDate": until}
        answer = await application.admin.get("/events/store", params=query)
        assert len(answer.json()) == 1, (since, until)


async def follow(application: Application, answer: httpx.Response) -> list[dict[str, Any]]:
    """The events of an answer and of all that its links lead to."""
    events = list(answer.json())
    while "next" in answer.links:
        path, _, query = answer.links["next"]["url"].partition("?")
        answer = await application.admin.get(path, params=dict(parse_qsl(query)))
        assert answer.status_code == 200
        events += answer.json()
    return events


async def test_beyond_a_thousand_a_link_leads_to_the_older_ones(application: Application, entity: str) -> None:
    await record(application, entity, *(START + number * SECOND for number in range(2500)))
    answer = await ask(application, entity, START, START + timedelta(days=1))
    assert len(answer.json()) == 1000
    assert numbers(await follow(application, answer)) == list(reversed(range(2500)))


async def test_pages_meet_where_many_events_have_one_time(application: Application, entity: str) -> None:
    same = [START + SECOND] * 700
    await record(application, entity, *([START] * 600), *same, *([START + 2 * SECOND] * 500))
    answer = await ask(application, entity, START, START + timedelta(days=1))
    found = [event["Id"] for event in await follow(application, answer)]
    assert len(found) == len(set(found)) == 1800


async def test_exactly_a_thousand_have_no_link(application: Application, entity: str) -> None:
    await record(application, entity, *(START + number * SECOND for number in range(1000)))
    answer = await ask(application, entity, START, START + timedelta(days=1))
    assert len(answer.json()) == 1000
    assert "link" not in answer.headers


async def test_what_is_missing_or_wrong_is_named(application: Application, entity: str) -> None:
    async def fields(**query: str) -> list[str]:
        answer = await application.admin.get("/events/store", params=query)
        assert answer.status_code == 400
        return [error["field"] for error in answer.json()["errors"]]

    assert await fields() == ["entityId", "fromDate", "toDate"]
    assert await fields(entityId="", fromDate="x", toDate="2026-13-01") == ["entityId", "fromDate", "toDate"]
    assert await fields(entityId=entity, fromDate="2026-01-02", toDate="2026-01-01") == ["fromDate"]
    assert await fields(entityId=entity, fromDate="2026-01-01", toDate="2026-01-02", Skip="1") == ["Skip"]


async def test_dates_at_the_ends_of_time_are_answered(application: Application, entity: str) -> None:
    query = {"entityId": entity, "fromDate": "0001-01-01T00:00:00+14:00", "toDate": "9999-12-31T23:59:59-14:00"}
    answer = await application.admin.get("/events/store", params=query)
    assert answer.status_code in (200, 400)
    query = {"entityId": entity, "fromDate": "0001-01-01", "toDate": "9999-12-31T23:59:59.999999Z"}
    assert (await application.admin.get("/events/store", params=query)).json() == []


async def test_odd_ids_find_nothing(application: Application) -> None:
    for odd in ("x", "' OR 1=1", "ü" * 300, "a" * 3000):
        assert (await ask(application, odd, START, START + SECOND)).json() == []
    query = {"entityId": "a\0b", "fromDate": "2026-01-01", "toDate": "2026-01-02"}
    assert (await application.admin.get("/events/store", params=query)).status_code in (200, 400)


async def test_an_unknown_event_is_404_and_what_is_no_id_400(application: Application) -> None:
    assert (await application.admin.get(f"/events/store/{uuid4()}")).status_code == 404
    assert (await application.admin.get("/events/store/x")).status_code == 400


async def test_only_admins_read_the_audit_log(application: Application, entity: str) -> None:
    for path in (f"/events/store/{entity}", f"/events/store?entityId={entity}&fromDate=2026-01-01&toDate=2026-01-02"):
        for client, status in ((application.operator, 403), (application.reader, 403), (application.anonymous, 401)):
            assert (await client.get(path)).status_code == status
