"""Schedules over HTTP: their documents, flows and streams."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from penstock.areas.flows.catalog import FlowCatalog
from penstock.areas.schedules.policy import SchedulePolicy
from penstock.areas.schedules.streams import ScheduleStreams, stream_of
from penstock.bus.bus import Bus
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.clock import SystemClock
from penstock.store.store import Store
from tests.application import Application
from tests.areas.agent_link import AgentLink
from tests.areas.ledger import count, messages, started
from tests.areas.scheduled import apply, removal, schedule
from tests.areas.waiting import until


async def errors_of(application: Application, document: dict[str, Any]) -> dict[str, str]:
    answer = await application.apply(document)
    assert answer.status_code == 400, answer.text
    return {error["field"]: error["message"] for error in answer.json()["errors"]}


async def action(application: Application, document: dict[str, Any]) -> str:
    answer = await application.admin.post("/configuration/plan", json=msgspec.json.encode(document).decode())
    assert answer.status_code == 200, answer.text
    [change] = answer.json()
    return str(change["Action"])


async def test_an_applied_schedule_makes_a_flow_and_a_stream(application: Application, name: str) -> None:
    await apply(
        application, schedule(name, "0 30 2 ? * MON-FRI", "backup", ["--all", "a b"], description="nightly backup")
    )
    found = await application.reader.get(f"/scheduling/schedules/{name.upper()}")
    assert found.json() == {
        "Name": name,
        "Description": "nightly backup",
        "Cron": "0 30 2 ? * MON-FRI",
        "Command": "backup",
        "Arguments": ["--all", "a b"],
    }
    assert found.json() in (await application.reader.get("/scheduling/schedules")).json()
    assert (await application.reader.get(f"/integrations/flows/schedule-{name}")).status_code == 200
    assert await messages(application, name) == []


async def test_a_removed_schedule_takes_flow_and_stream_along_and_can_come_again(
    application: Application, name: str
) -> None:
    paths = (
        f"/scheduling/schedules/{name}",
        f"/integrations/flows/schedule-{name}",
        f"/eventing/streams/schedule-{name}/messages",
    )
    for _ in range(2):
        await apply(application, schedule(name))
        assert [(await application.reader.get(path)).status_code for path in paths] == [200, 200, 200]
        await apply(application, removal(name))
        assert [(await application.reader.get(path)).status_code for path in paths] == [404, 404, 404]
    await apply(application, removal(name))


async def test_an_unchanged_document_keeps_everything(application: Application, name: str) -> None:
    document = schedule(name, requirements={"OS": "plan9"})
    assert await action(application, document) == "create"
    await apply(application, document)
    version = (await application.reader.get(f"/integrations/flows/schedule-{name}")).json()["Version"]
    assert await action(application, document) == "keep"
    await apply(application, document)
    again = (await application.reader.get(f"/integrations/flows/schedule-{name}")).json()["Version"]
    assert (version, again) == ("1", "1")
    assert await action(application, schedule(name, "1 0 0 1 1 ?", requirements={"OS": "plan9"})) == "change"
    assert await action(application, removal(name)) == "remove"


async def test_names_with_dots_have_streams_of_their_own(application: Application, name: str) -> None:
    names = [f"{name}.a", f"{name}..a", f"{name}.a."]
    await apply(application, *(schedule(each) for each in names))
    for each in names:
        assert await messages(application, each) == []


@pytest.mark.parametrize(
    ("cron", "allowed"),
    [
        ("* * * * *", "6 fields"),
        ("61 * * * * ?", "0-59"),
        ("0 0 0 31 2 ?", "day-of-month"),
        ("0 0 0 1 * MON", "?"),
        ("0 0 0 ? * FUN", "day-of-week"),
        ("", "6 fields"),
    ],
)
async def test_a_cron_error_names_the_field_and_what_is_allowed(
    application: Application, name: str, cron: str, allowed: str
) -> None:
    errors = await errors_of(application, schedule(name, cron))
    assert list(errors) == ["documents[0].spec.cron"]
    assert allowed in errors["documents[0].spec.cron"]
    assert (await application.reader.get(f"/scheduling/schedules/{name}")).status_code == 404


async def test_all_that_is_wrong_in_a_document_is_told_at_once(application: Application) -> None:
    bad = schedule("no name", "never", " ", ["ok", "a\0b"], {"": "x", "Key": "v" * 257})
    errors = await errors_of(application, bad)
    assert set(errors) == {
        "documents[0].metadata.name",
        "documents[0].spec.cron",
        "documents[0].spec.command",
        "documents[0].spec.args[1]",
        "documents[0].spec.requirements",
        "documents[0].spec.requirements.Key",
    }


async def test_a_name_leaves_room_for_the_flows_name(application: Application) -> None:
    await apply(application, schedule("n" * 119))
    errors = await errors_of(application, schedule("n" * 120))
    assert list(errors) == ["documents[0].metadata.name"]
    await apply(application, removal("n" * 119))


async def test_of_a_bad_and_a_good_document_neither_is_applied(application: Application, name: str) -> None:
    answer = await application.apply(schedule(name), schedule(f"{name}-bad", "never"))
    assert answer.status_code == 400
    assert (await application.reader.get(f"/scheduling/schedules/{name}")).status_code == 404


async def test_documents_applied_at_the_same_time_leave_one_whole_schedule(application: Application, name: str) -> None:
    documents = [schedule(name, args=[str(number)]) for number in range(6)]
    answers = await asyncio.gather(*(application.apply(document) for document in documents))
    assert {answer.status_code for answer in answers} <= {202, 409, 412}
    [arguments] = (await application.reader.get(f"/scheduling/schedules/{name}")).json()["Arguments"]
    spec = await application.platform.container.get(FlowCatalog).stored([f"schedule-{name}"])
    assert f"'{arguments}'" in spec[f"schedule-{name}"].flow_spec


async def test_an_unknown_schedule_is_not_found(application: Application, name: str) -> None:
    for path in ("", "/ticks", "/runs"):
        assert (await application.reader.get(f"/scheduling/schedules/{name}{path}")).status_code == 404


async def test_a_stream_that_somebody_deleted_is_made_again_when_something_happens(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name))
    await Streams(application.platform.container.get(Bus)).delete(stream_of(name))
    await link.report_schedules(started=[started(name, uuid4())])
    await until(lambda: _has_stream(application, name))
    await until(lambda: count(lambda: messages(application, name), 1))


async def test_repair_makes_what_is_missing_and_deletes_what_is_orphaned(application: Application, name: str) -> None:
    await apply(application, schedule(name))
    bus = application.platform.container.get(Bus)
    streams = Streams(bus)
    await streams.delete(stream_of(name))
    orphan = stream_of(f"{name}-orphan")
    await streams.ensure(StreamSpec(name=orphan, subjects=[f"orphan.{name}"]))
    await application.platform.container.get(ScheduleStreams).repair()
    names = {info.name for info in await streams.list()}
    assert {stream_of(name), orphan} <= names
    store, clock = application.platform.container.get(Store), SystemClock()
    await ScheduleStreams(bus, store, clock, SchedulePolicy(orphan_after=timedelta())).repair()
    names = {info.name for info in await streams.list()}
    assert stream_of(name) in names
    assert orphan not in names


async def _has_stream(application: Application, name: str) -> bool:
    answer = await application.reader.get(f"/eventing/streams/schedule-{name}/messages")
    return answer.status_code == 200
