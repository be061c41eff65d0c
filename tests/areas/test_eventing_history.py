"""The history of events over HTTP, and its rebuilding."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from penstock.areas.eventing.history_entry import HISTORY, EventEntry
from penstock.bus.bus import Bus
from penstock.bus.streams import Streams
from penstock.protocol.event_streams import EVENTS as EVENT_STREAM
from penstock.store.store import Store, decode
from penstock.store.write import Append
from tests.application import ADMIN_PASSWORD, Application, running_application
from tests.areas.events import Event, event, make_channel, new_name, publish, subscribe
from tests.areas.waiting import until
from tests.program import Terminal

EVENTS = "/eventing/events"


async def remembered(application: Application, kind: str, count: int, **query: Any) -> list[dict[str, Any]]:
    """The overviews of a type once there are so many."""

    async def enough() -> list[dict[str, Any]] | None:
        answer = await application.reader.get(EVENTS, params={"EventType": kind, "Limit": 1000, **query})
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()
        return found if len(found) >= count else None

    return await until(enough) or []


async def published(application: Application, kind: str, count: int) -> list[Event]:
    sent = [event(kind, data=number) for number in range(count)]
    await publish(application, *sent)
    await remembered(application, kind, count)
    return sent


def ids(overviews: list[dict[str, Any]]) -> list[str]:
    return [each["Id"] for each in overviews]


async def test_events_are_listed_newest_first(application: Application) -> None:
    kind = new_name()
    sent = await published(application, kind, 5)
    found = await remembered(application, kind, 5)
    assert ids(found) == [each["id"] for each in reversed(sent)]
    assert {(each["EventType"], each["Source"]) for each in found} == {(kind, "/tests")}
    times = [each["UtcDateTime"] for each in found]
    assert times == sorted(times, reverse=True)


async def test_a_channel_lists_what_it_was_given(application: Application) -> None:
    channel, other, kind, unwanted = (
        await make_channel(application),
        await make_channel(application),
        new_name(),
        new_name(),
    )
    for name in (channel, other):
        await subscribe(application, name, EventType=kind)
    sent = await published(application, kind, 3)
    await published(application, unwanted, 1)
    await remembered(application, kind, 3, Channel=channel)
    for path, query in ((EVENTS, {"Channel": channel.upper()}), (f"{EVENTS}/channel", {"channelName": channel})):
        assert ids((await application.reader.get(path, params=query)).json()) == [each["id"] for each in reversed(sent)]
    both = {"Channel": channel, "EventType": unwanted}
    assert (await application.reader.get(EVENTS, params=both)).json() == []


async def test_a_removed_channel_still_has_its_history(application: Application) -> None:
    channel, kind = await make_channel(application), new_name()
    query = {"channelName": channel}
    assert (await application.reader.get(f"{EVENTS}/channel", params=query)).json() == []
    await subscribe(application, channel, EventType=kind)
    await published(application, kind, 1)
    await remembered(application, kind, 1, Channel=channel)
    await application.operator.delete("/api/EventHub/Channels", params=query)
    assert len((await application.reader.get(f"{EVENTS}/channel", params=query)).json()) == 1
    unknown = await application.reader.get(f"{EVENTS}/channel", params={"channelName": "nothing"})
    assert unknown.status_code == 404


async def test_a_definition_lists_its_events(application: Application) -> None:
    kind = new_name()
    await application.operator.post("/api/EventHub/EventDefinitions", json={"Type": kind, "Source": "/tests"})
    entities = (await application.reader.get("/api/EventHub/Admin/eventDefinitions")).json()
    id = next(each["Id"] for each in entities if each["Type"] == kind)
    (sent,) = await published(application, kind, 1)
    await publish(application, event(kind, source="/other"))
    await remembered(application, kind, 2)
    assert ids((await application.reader.get(f"{EVENTS}/eventdefinition/{id}")).json()) == [sent["id"]]


async def test_a_type_lists_its_events(application: Application) -> None:
    kind = new_name()
    sent = await published(application, kind, 2)
    found = await application.reader.get(f"{EVENTS}/eventtype", params={"eventType": kind})
    assert ids(found.json()) == [each["id"] for each in reversed(sent)]
    assert (await application.reader.get(f"{EVENTS}/eventtype", params={"eventType": kind.upper()})).json() == []


async def test_details_have_the_event_and_its_channels(application: Application) -> None:
    kind = new_name()
    channels = sorted([await make_channel(application), await make_channel(application)])
    for channel in channels:
        await subscribe(application, channel, EventType=kind)
    sent = event(kind, data={"price": 0.1}, subject="é")
    await publish(application, sent)
    (overview,) = await remembered(application, kind, 1)
    details = (await application.reader.get(f"{EVENTS}/details", params={"eventId": sent["id"]})).json()
    assert {field: details[field] for field in overview} == overview
    assert (details["Version"], details["TargetChannels"]) == ("1.0", channels)
    assert msgspec.json.decode(details["Json"]) == sent


async def test_details_of_an_id_that_sources_share_are_of_the_newest(application: Application) -> None:
    kind = new_name()
    first = event(kind)
    await publish(application, first, {**first, "source": "/newer"})
    await remembered(application, kind, 2)
    details = await application.reader.get(f"{EVENTS}/details", params={"eventId": first["id"]})
    assert details.json()["Source"] == "/newer"
    for unknown in ("nothing", "a\x00b"):
        answer = await application.reader.get(f"{EVENTS}/details", params={"eventId": unknown})
        assert answer.status_code == 404


async def test_dates_include_their_bounds(application: Application) -> None:
    kind = new_name()
    await published(application, kind, 5)
    newest_first = await remembered(application, kind, 5)
    times = [each["UtcDateTime"] for each in newest_first]

    async def between(**query: str) -> list[str]:
        return ids((await application.reader.get(EVENTS, params={"EventType": kind, **query})).json())

    assert await between(FromDate=times[3], ToDate=times[1]) == ids(newest_first)[1:4]
    assert await between(FromDate=times[1]) == ids(newest_first)[:2]
    assert await between(ToDate=times[3]) == ids(newest_first)[3:]
    assert await between(FromDate="2100-01-01") == []
    assert await between(ToDate="9999-12-31T23:59:59.999999Z") == ids(newest_first)


@pytest.mark.parametrize("limit", [1, 3, 7, 20])
async def test_links_lead_through_all_pages(application: Application, limit: int) -> None:
    kind = new_name()
    sent = await published(application, kind, 20)
    found: list[str] = []
    address: str | None = f"{EVENTS}?EventType={kind}&Limit={limit}"
    while address is not None:
        page = await application.reader.get(address)
        assert len(page.json()) <= limit
        found += ids(page.json())
        link = page.headers.get("link")
        address = link[1 : link.index(">")] if link else None
    assert found == [each["id"] for each in reversed(sent)]


@pytest.mark.parametrize("query", ["Limit=-1", "Limit=1001", "FromDate=yesterday", "Skip=1"])
async def test_bad_bounds_are_refused(application: Application, query: str) -> None:
    answer = await application.reader.get(f"{EVENTS}?{query}")
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == list(parse_qs(urlsplit(f"?{query}").query))


async def test_without_a_limit_a_page_has_a_hundred(application: Application) -> None:
    kind = new_name()
    await published(application, kind, 120)
    assert len((await application.reader.get(EVENTS, params={"EventType": kind})).json()) == 100
    assert (await application.reader.get(EVENTS, params={"EventType": kind, "Limit": 0})).json() == []


# Rebuilding, in an application of its own: what others publish meanwhile would change what is compared.


@pytest.fixture(scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    async with running_application(tmp_path_factory.mktemp("history")) as running:
        channel = await make_channel(running, "first")
        await make_channel(running, "second")
        await subscribe(running, channel, EventType="even")
        await subscribe(running, "second")
        kinds = ["even", "odd"] * 600
        for start in range(0, len(kinds), 100):
            assert (await publish(running, *map(event, kinds[start : start + 100]))).status_code == 200
        await remembered(running, "even", 600)
        await remembered(running, "odd", 600)
        yield running


async def all_entries(application: Application) -> list[bytes]:
    store = application.platform.container.get(Store)  # type: ignore[type-abstract]
    return await store.entries(HISTORY, limit=100_000)


async def damage(application: Application) -> None:
    """Alters entries as a fault of an earlier release might have."""
    store = application.platform.container.get(Store)  # type: ignore[type-abstract]
    entries = [decode(body, EventEntry) for body in await store.entries(HISTORY, limit=500)]
    wrong = [msgspec.structs.replace(entry, event_type="wrong", definition=None) for entry in entries]
    await store.commit([Append(HISTORY, wrong, replace=True)])


async def stored(application: Application) -> int:
    """How many messages the stream of accepted events has."""
    return (await Streams(application.platform.container.get(Bus)).info(EVENT_STREAM)).messages


async def reindexed(application: Application) -> list[dict[str, Any]]:
    answer = await application.admin.post(f"{EVENTS}/reindex")
    return [msgspec.json.decode(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]


async def test_a_rebuilt_history_equals_the_original(own: Application) -> None:
    original, total = await all_entries(own), await stored(own)
    await damage(own)
    assert await all_entries(own) != original
    progress = await reindexed(own)
    assert [each["Done"] for each in progress] == [500, 1000, total, total]
    assert [each["Finished"] for each in progress] == [False, False, False, True]
    assert {each["Total"] for each in progress} == {total}
    assert sorted(await all_entries(own)) == sorted(original)


async def test_the_command_line_rebuilds_the_history(own: Application, tmp_path: Path) -> None:
    original = await all_entries(own)
    await damage(own)
    terminal = Terminal(tmp_path, own.address)
    ended = await terminal.run("eventing", "reindex", PENSTOCK_USERNAME="admin", PENSTOCK_PASSWORD=ADMIN_PASSWORD)
    assert ended.code == 0, ended.err
    assert "events are in the history" in ended.out
    assert sorted(await all_entries(own)) == sorted(original)


async def test_only_an_admin_rebuilds(own: Application) -> None:
    assert (await own.operator.post(f"{EVENTS}/reindex")).status_code == 403


async def test_what_is_no_event_is_left_out_of_the_history(own: Application) -> None:
    original = await all_entries(own)
    await own.platform.container.get(Bus).publish("event.accepted", b"no event")
    kind = new_name()
    await publish(own, event(kind))
    await remembered(own, kind, 1)
    assert (await reindexed(own))[-1]["Skipped"] == 1
    assert len(await all_entries(own)) == len(original) + 2  # the event, and that it went to a channel
