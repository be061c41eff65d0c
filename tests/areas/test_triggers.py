"""Triggers: event sources that servers run, one replica at a time."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock.areas.eventsources.policy import EventSourcePolicy
from penstock.areas.eventsources.source_events import SourceEvents
from penstock.areas.eventsources.trigger_runs import TriggerRuns
from penstock.areas.eventsources.trigger_schedule import TriggerSchedule
from penstock.areas.eventsources.triggers import TriggerService
from penstock.areas.variables.service import VariableService
from penstock.bus.bus import Bus
from penstock.bus.due import Due
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import SystemClock
from penstock.kernel.cron import Cron
from penstock.store.store import Store
from tests.application import Application, running_application
from tests.areas.busy_server import busy_server
from tests.areas.events import errors_of, make_channel, new_name, routed, subscribe
from tests.areas.triggers import make_trigger, moves, post_trigger, remove_trigger, stands, times, trigger
from tests.http_sink import HttpSink, Reply, http_sink


@pytest.fixture
async def sink() -> AsyncIterator[HttpSink]:
    async with http_sink() as running:
        yield running


@pytest.fixture
async def channel(application: Application) -> str:
    return await make_channel(application)


# What there is, and what is refused


async def test_the_catalog_lists_what_servers_can_run(application: Application) -> None:
    found = {each["Name"]: each for each in (await application.reader.get("/api/EventHub/Catalog")).json()}
    assert {"timer", "file-watch", "http-poll", "nats", "database-change"} <= found.keys()
    assert "webhook" not in found
    assert found["timer"]["Version"]["Major"] == 1
    assert found["timer"]["Configuration"]["RequiresPolling"]
    assert not found["nats"]["Configuration"]["RequiresPolling"]
    assert '"url"' in found["http-poll"]["Configuration"]["ConfigurationSchema"]


async def test_what_is_wrong_is_said_all_at_once(application: Application) -> None:
    answer = await post_trigger(application, "http-poll", Frequency="00:00:00.5", CronExpression="* *", url="ftp://x")
    assert errors_of(answer).keys() == {"Frequency", "CronExpression", "Configuration.url"}
    answer = await post_trigger(application, "http-poll", timeoutSeconds="long", more=1)
    found = errors_of(answer)
    assert found.keys() == {"Configuration.url", "Configuration.timeoutSeconds", "Configuration.more"}


async def test_an_unknown_type_is_refused_with_the_known_ones(application: Application) -> None:
    found = errors_of(await post_trigger(application, "no-such-type"))
    assert "timer" in found["TypeName"]


async def test_a_type_that_runs_on_agents_only_is_refused(application: Application) -> None:
    found = errors_of(await post_trigger(application, "webhook", port=8080, open=True))
    assert "agents only" in found["TypeName"]


async def test_an_unknown_channel_is_not_found(application: Application) -> None:
    answer = await post_trigger(application, "timer", "no-such-channel")
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


async def test_a_trigger_that_does_not_exist_cannot_be_deleted(application: Application) -> None:
    assert (await application.operator.delete(f"/api/EventHub/Trigger/{uuid4()}")).status_code == 404


async def test_a_reader_makes_no_trigger(application: Application) -> None:
    assert (await application.reader.post("/api/EventHub/Trigger", json={"TypeName": "timer"})).status_code == 403


async def test_private_addresses_and_files_of_the_server_are_refused_unless_allowed(tmp_path: Path) -> None:
    async with running_application(tmp_path, PENSTOCK_ALLOW_PRIVATE_ADDRESSES="false") as strict:
        found = errors_of(await post_trigger(strict, "http-poll", url="http://localhost:1/"))
        assert "private" in found["Configuration.url"]
        id = await make_trigger(strict, "file-watch", folder=str(tmp_path))
        status = await stands(strict, id, "Failed")
        assert "none of the folders" in status["Messages"][-1]["Message"]


# What it does


async def test_a_timer_publishes_to_its_channel_at_each_due_time(application: Application, channel: str) -> None:
    id = await make_trigger(application, "timer", channel, data={"n": 1})
    events = await routed(application, channel, 3)
    await remove_trigger(application, id)
    assert {(event["type"], event["source"]) for event in events} == {
        ("penstock.timer.due", f"/eventsources/trigger-{id}")
    }
    assert events[0]["data"] == {"n": 1}
    found = times(events)
    assert {later - earlier for earlier, later in pairwise(found)} == {timedelta(seconds=1)}
    assert len({event["id"] for event in events}) == len(events)


async def test_a_trigger_without_a_channel_publishes_to_those_who_subscribe(
    application: Application, channel: str
) -> None:
    source = f"/{new_name()}"
    await subscribe(application, channel, Source=source)
    id = await make_trigger(application, "timer", source=source, eventType="tests.tick")
    [event, *_] = await routed(application, channel, 1)
    await remove_trigger(application, id)
    assert (event["source"], event["type"]) == (source, "tests.tick")


async def test_a_cron_expression_beats_a_frequency(application: Application, channel: str) -> None:
    answer = await post_trigger(application, "timer", channel, Frequency="00:10:00", CronExpression="*/2 * * * * ?")
    events = await routed(application, channel, 2)
    await remove_trigger(application, answer.json())
    first, second = times(events)[:2]
    assert second == Cron.parse("*/2 * * * * ?").next_after(first, UTC)


async def test_what_changes_before_the_first_due_time_is_found_then(
    application: Application, channel: str, sink: HttpSink
) -> None:
    sink.answer = lambda request: Reply(200, {}, b"1")
    answer = await post_trigger(application, "http-poll", channel, CronExpression="*/3 * * * * ?", url=sink.url)
    await stands(application, answer.json(), "Started")
    sink.answer = lambda request: Reply(200, {}, b"2")
    [event] = await routed(application, channel, 1)
    await remove_trigger(application, answer.json())
    assert event["data_base64"] == "Mg=="


async def test_runs_never_overlap_and_due_times_that_pass_meanwhile_are_left_out(
    application: Application, channel: str
) -> None:
    async with busy_server() as busy:
        id = await make_trigger(application, "http-poll", channel, url=f"http://127.0.0.1:{busy.port}/")
        await routed(application, channel, 1)
        await remove_trigger(application, id)
    assert busy.most_at_once == 1


async def test_an_unchanged_answer_makes_no_event_and_a_changed_one_makes_one(
    application: Application, channel: str, sink: HttpSink
) -> None:
    body = b'{"price": 1}'

    def answer(request: Any) -> Reply:
        tag = f'"{hash(body)}"'
        if request.headers.get("if-none-match") == tag:
            return Reply(304)
        return Reply(200, {"etag": tag, "content-type": "application/json"}, body)

    sink.answer = answer
    id = await make_trigger(application, "http-poll", channel, url=sink.url)
    requests = await sink.received(3)
    assert ["if-none-match" in request.headers for request in requests[:3]] == [False, True, True]
    assert await routed(application, channel, 0) == []
    body = b'{"price": 2}'
    [event] = await routed(application, channel, 1)
    await remove_trigger(application, id)
    assert (event["type"], event["data"]) == ("penstock.http.changed", {"price": 2})


async def test_a_failure_is_told_in_the_status_and_forgotten_with_the_next_success(
    application: Application, sink: HttpSink
) -> None:
    sink.answer = lambda request: Reply(500)
    id = await make_trigger(application, "http-poll", url=sink.url)
    failed = await stands(application, id, "Failed")
    assert failed["Messages"][-1]["Message"] == "the address answers 500"
    sink.answer = lambda request: Reply(200, {}, b"1")
    started = await stands(application, id, "Started")
    await remove_trigger(application, id)
    assert moves(started) == ["Initializing", "Initialized", "Starting", "Failed", "Starting", "Started"]
    assert started["PreviousStatus"] == "Starting"
    logged = [datetime.fromisoformat(move["LogTime"]) for move in started["Messages"]]
    assert logged == sorted(logged)


async def test_a_deleted_trigger_runs_no_more(application: Application, sink: HttpSink) -> None:
    id = await make_trigger(application, "http-poll", url=sink.url)
    await sink.received(1)
    await remove_trigger(application, id)
    count = len(sink.requests)
    await asyncio.sleep(1.5)
    assert len(sink.requests) - count <= 1  # one may have been on its way
    assert id not in {each["Id"] for each in (await application.reader.get("/api/EventHub/Trigger")).json()}


async def test_a_trigger_posted_again_with_its_id_is_replaced_and_reads_on(
    application: Application, channel: str, sink: HttpSink
) -> None:
    sink.answer = lambda request: Reply(200, {}, b"1")
    id = await make_trigger(application, "http-poll", url=sink.url)
    await stands(application, id, "Started")
    sink.answer = lambda request: Reply(200, {}, b"2")
    again = await make_trigger(application, "http-poll", channel, id, url=sink.url, headers={"x-test": "1"})
    assert again == id
    [event, *_] = await routed(application, channel, 1)
    await remove_trigger(application, id)
    assert event["data_base64"] == "Mg=="
    assert "x-test" in sink.requests[-1].headers


async def test_secrets_are_used_and_never_shown(application: Application, sink: HttpSink) -> None:
    token = f"Bearer {uuid4().hex}"
    sink.answer = lambda request: Reply(500, {}, request.headers.get("authorization", "").encode())
    id = await make_trigger(application, "http-poll", url=sink.url, authorization=token)
    requests = await sink.received(1)
    assert requests[0].headers["authorization"] == token
    shown = await trigger(application, id)
    assert shown["Configuration"]["authorization"] == "******"
    assert token not in (await application.reader.get("/api/EventHub/Trigger")).text
    again = await make_trigger(application, "http-poll", None, id, **shown["Configuration"])
    count = len(sink.requests)
    await sink.received(count + 1)
    await remove_trigger(application, again)
    assert sink.requests[-1].headers["authorization"] == token


async def test_a_mask_keeps_no_secret_when_the_rest_changes(application: Application, sink: HttpSink) -> None:
    id = await make_trigger(application, "http-poll", url=sink.url, authorization="Bearer secret")
    answer = await post_trigger(application, "http-poll", None, id, url="http://127.0.0.1:1/", authorization="******")
    await remove_trigger(application, id)
    assert "give the secret" in errors_of(answer)["Configuration.authorization"]


async def test_variables_are_replaced_and_a_missing_one_is_told(application: Application, sink: HttpSink) -> None:
    name = new_name()
    id = await make_trigger(application, "http-poll", url=sink.url, authorization=f"{{{{var:{name}}}}}")
    failed = await stands(application, id, "InitializingFailed")
    assert name in failed["Messages"][-1]["Message"]
    document = {
        "apiVersion": "penstock/v1alpha1",
        "kind": "Variable",
        "metadata": {"name": name},
        "spec": {"value": "Bearer xyzzy", "isSecret": True},
    }
    assert (await application.apply(document)).status_code == 202
    requests = await sink.received(1)
    shown = await trigger(application, id)
    await remove_trigger(application, id)
    assert requests[0].headers["authorization"] == "Bearer xyzzy"
    assert shown["Configuration"]["authorization"] == f"{{{{var:{name}}}}}"


# Replicas, restarts, losses


async def test_how_far_a_trigger_has_read_survives_a_restart(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "old.txt").write_text("old")
    settings = {"PENSTOCK_TRIGGER_FOLDERS": str(files)}
    async with running_application(tmp_path / "server", **settings) as first:
        channel = await make_channel(first)
        id = await make_trigger(first, "file-watch", channel, folder=str(files), settleSeconds=0, content="text")
        await stands(first, id, "Started")
    (files / "new.txt").write_text("new")
    async with running_application(tmp_path / "server", **settings) as second:
        [event] = await routed(second, channel, 1)
    assert (event["type"], event["data"]["Name"], event["data"]["Text"]) == ("penstock.file.created", "new.txt", "new")


async def test_a_trigger_whose_due_message_was_lost_is_put_right(
    application: Application, channel: str, sink: HttpSink
) -> None:
    get = application.platform.container.get
    id = await make_trigger(application, "timer", channel)
    await routed(application, channel, 1)
    await Due(get(Bus)).cancel(f"trigger.{id}")
    count = len(await routed(application, channel, 1))
    repair = TriggerRuns(
        get(Store),
        SystemClock(),
        get(TriggerService),
        get(TriggerSchedule),
        get(SourceEvents),
        get(VariableService),
        get(AddressGuard),
        EventSourcePolicy(overdue=timedelta()),
    )
    await asyncio.sleep(1.1)
    await repair.repair()
    await routed(application, channel, count + 1)
    await remove_trigger(application, id)
