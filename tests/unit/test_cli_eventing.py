"""The command line on webhooks, events and channels, against the real application."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from tests.application import Application
from tests.http_sink import HttpSink, Reply, http_sink
from tests.program import Terminal

pytest_plugins = ("tests.terminals",)


async def test_a_webhooks_requests_are_shown_and_handled_again(
    application: Application, admin: Terminal, name: str
) -> None:
    document = (
        f"apiVersion: penstock/v1alpha1\nkind: Webhook\nmetadata:\n  name: {name}\n"
        "spec:\n  authentication:\n    type: open\n"
    )
    assert (await admin.run("apply", "-f", "-", given=document)).code == 0
    assert name in (await admin.run("get", "webhooks")).out
    sent = await application.anonymous.post(f"/webhooks/{name}", content="one\x1b[31m\ntwo")
    id = sent.json()["Id"]
    shown = await admin.run("get", "requests", name)
    assert id in shown.out
    assert "one\ufffd[31m" in shown.out
    assert "\x1b" not in shown.out
    assert (await admin.run("rehandle", name, id)).out == f"{id} handled again\n"
    [copy, original] = json.loads((await admin.run("get", "requests", name, "-o", "json")).out)
    assert (copy["OriginalMessageId"], original["Id"]) == (id, id)
    assert (await admin.run("rehandle", name, "none")).code == 1
    assert (await admin.run("get", "requests")).code == 2


async def test_the_entities_of_a_type_are_shown(application: Application, admin: Terminal, name: str) -> None:
    for id in ("hall", "roof"):
        body = {"Type": name, "Id": id, "Data": f'{{"lamp":"{id}"}}'}
        await application.operator.put("/integrations/entitystore", json=body)
    shown = await admin.run("get", "entities", name)
    assert [line.split()[0] for line in shown.out.splitlines()] == ["ID", "roof", "hall"]
    assert '{"lamp":"hall"}' in shown.out
    [roof, hall] = json.loads((await admin.run("get", "entity", name, "-o", "json")).out)
    assert (roof["Id"], hall["Id"]) == ("roof", "hall")
    assert "There are no entities" in (await admin.run("get", "entities", f"{name}&x=1")).err


# Events


@pytest.fixture
async def sink() -> AsyncIterator[HttpSink]:
    async with http_sink() as running:
        yield running


def channel(name: str, url: str) -> str:
    return (
        f"apiVersion: penstock/v1alpha1\nkind: EventChannel\nmetadata:\n  name: {name}\nspec:\n"
        f"  type: http\n  parameters:\n    url: {url}\n---\n"
        f"apiVersion: penstock/v1alpha1\nkind: EventSubscription\nmetadata:\n  name: {name}\nspec:\n"
        f"  channel: {name}\n  eventType: {name}\n"
    )


async def test_events_are_published_and_shown(application: Application, admin: Terminal, name: str) -> None:
    made = await admin.run("publish", "--type", name, given='{"Colour": "red"}')
    assert made.code == 0, made.err
    written = {"specversion": "1.0", "id": f"{name}-2", "source": "/shop", "type": name}
    assert (await admin.run("publish", given=json.dumps(written))).out == f"{name}-2\n"

    async def shown() -> list[str]:
        listed = await admin.run("get", "events")
        return [line.split()[-1] for line in listed.out.splitlines() if name in line]

    async with asyncio.timeout(20):
        while await shown() != [f"{name}-2", made.out.strip()]:
            await asyncio.sleep(0.05)
    whole = json.loads((await admin.run("get", "event", made.out.strip(), "-o", "json")).out)
    assert json.loads(whole["Json"])["data"] == {"Colour": "red"}


async def test_events_that_are_none_are_refused_by_attribute(admin: Terminal, name: str) -> None:
    nameless = await admin.run("publish", given='{"specversion": "1.0", "id": "1", "source": "/shop"}')
    assert nameless.code == 1
    assert "type" in nameless.err
    assert (await admin.run("publish", "--type", name, given="{")).code == 1
    assert (await admin.run("publish", "--id", "1", given="{}")).code == 2


async def test_dead_letters_are_shown_replayed_and_discarded(admin: Terminal, sink: HttpSink, name: str) -> None:
    sink.answer = lambda request: Reply(400)
    assert (await admin.run("apply", "-f", "-", given=channel(name, sink.url))).code == 0
    assert name in (await admin.run("get", "channels")).out
    assert name in (await admin.run("get", "subscriptions")).out
    for number in range(3):
        assert (await admin.run("publish", "--type", name, "--id", str(number))).code == 0

    async def sequences(count: int) -> list[int]:
        async with asyncio.timeout(20):
            while True:
                listed = json.loads((await admin.run("deadletters", "list", name, "-o", "json")).out)
                if len(listed) == count:
                    return [row["Sequence"] for row in listed]
                await asyncio.sleep(0.05)

    last, second, first = await sequences(3)
    table = (await admin.run("deadletters", "list", name)).out
    assert "the address answered 400" in table
    assert name in (await admin.run("deadletters", "list")).out
    assert json.loads(json.loads((await admin.run("deadletters", "show", name, str(first))).out)["Json"])["id"] == "0"
    assert "3" in (await admin.run("get", "delivery", name)).out

    sink.answer = lambda request: Reply()
    before = len(sink.requests)
    assert (await admin.run("deadletters", "replay", name, str(second))).out == "1 will be delivered again\n"
    assert (await sink.received(before + 1))[-1].event["id"] == "1"
    assert (await admin.run("deadletters", "discard", name, str(last))).out == "1 discarded\n"
    again = await admin.run("deadletters", "discard", name, str(last))
    assert (again.code, again.out) == (1, "0 discarded\n")
    assert (await admin.run("deadletters", "replay", name, "--all")).out == "1 will be delivered again\n"
    assert (await sink.received(before + 2))[-1].event["id"] == "0"
    assert "There are no dead letters" in (await admin.run("deadletters", "list", name)).err
    assert (await admin.run("deadletters", "discard", name)).code == 2
    assert (await admin.run("deadletters", "list", f"{name}-none")).code == 1


async def test_a_disabled_channel_is_enabled_again(admin: Terminal, sink: HttpSink, name: str) -> None:
    sink.answer = lambda request: Reply(410)
    assert (await admin.run("apply", "-f", "-", given=channel(name, sink.url))).code == 0
    assert (await admin.run("publish", "--type", name, "--id", name, given="")).code == 0
    async with asyncio.timeout(20):
        while "gone" not in (await admin.run("get", "delivery", name, "-o", "json")).out:
            await asyncio.sleep(0.05)
    sink.answer = lambda request: Reply()
    before = len(sink.requests)
    enabled = await admin.run("channel", "enable", name)
    assert enabled.out == f"{name} is delivered again; 1 event waits\n", enabled.err
    assert (await sink.received(before + 1))[-1].event["id"] == name
    assert (await admin.run("channel", "enable", f"{name}-none")).code == 1


async def test_history_is_replayed_to_a_channel(admin: Terminal, sink: HttpSink, name: str) -> None:
    assert (await admin.run("apply", "-f", "-", given=channel(name, sink.url))).code == 0
    for number in range(3):
        assert (await admin.run("publish", "--type", name, "--id", f"{name}-{number}", given="")).code == 0
    await sink.received(3)
    replayed = await admin.run("channel", "replay", name, "--from", "2026-01-01", "--type", name)
    assert replayed.out == "3 will be delivered again\n", replayed.err
    assert [request.event["id"] for request in await sink.received(6)] == [
        f"{name}-{number}" for number in range(3)
    ] * 2
    none = await admin.run("channel", "replay", name, "--from", "2026-01-01", "--to", "2026-01-02T00:00:00+01:00")
    assert none.out == "0 will be delivered again\n"


@pytest.mark.parametrize("options", [[], ["--from", "yesterday"], ["--from", "2026-13-01"]])
async def test_a_replay_needs_a_time_that_it_begins_at(admin: Terminal, name: str, options: list[str]) -> None:
    assert (await admin.run("channel", "replay", name, *options)).code == 2
