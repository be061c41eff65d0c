"""The requests that a webhook received."""

import pytest

from tests.areas.hooks import Hook


async def test_history_is_newest_first(hook: Hook) -> None:
    await hook.make()
    assert await hook.history() == []
    for number in range(120):
        await hook.send(str(number).encode())
    assert [message["Body"] for message in await hook.history()] == [str(n) for n in range(119, -1, -1)]


async def test_history_is_answered_in_bounds_however_large_requests_are(hook: Hook) -> None:
    await hook.make()
    for _ in range(34):
        await hook.send(b"x" * (1 << 20))
    assert len(await hook.history()) == 31


async def test_a_cleared_history_is_empty_and_the_clearing_is_recorded(hook: Hook) -> None:
    await hook.make()
    await hook.send(b"1")
    address = f"/api/webhooks/{hook.name}/history"
    assert (await hook.application.reader.delete(address)).status_code == 403
    answer = await hook.application.operator.delete(address)
    assert (answer.status_code, answer.content) == (200, b"")
    assert await hook.history() == []
    await hook.send(b"2")
    assert [message["Body"] for message in await hook.history()] == ["2"]
    assert [event["EventType"] for event in await hook.audited()] == ["webhooks.cleared", "webhooks.created"]


async def test_a_request_that_is_handled_again_is_a_copy_and_a_new_event(hook: Hook) -> None:
    await hook.make()
    await hook.send(b'{"n":1}', query="a=1", **{"Content-Type": "application/json", "X-Trace": "t"})
    [original] = await hook.history()
    answer = await hook.rehandle(original["Id"])
    assert (answer.status_code, answer.content) == (200, b"")
    copy, first = await hook.history()
    assert first == original
    assert (copy["IsRehandled"], copy["OriginalMessageId"]) == (True, original["Id"])
    assert copy["Timestamp"] > original["Timestamp"]
    same = ("Method", "Path", "Headers", "QueryString", "Body", "ContentType")
    assert [copy[field] for field in same] == [original[field] for field in same]
    again, event = await hook.events()
    assert (again.id, again.data) == (copy["Id"], event.data)
    assert (again.extensions, event.extensions) == ({"rehandledfrom": original["Id"]}, {})
    assert (await hook.audited())[0]["EventType"] == "webhooks.rehandled"


@pytest.mark.parametrize("message", ["0190f6a0-0000-7000-8000-000000000000", "none", "*", ">", "%20"])
async def test_what_was_never_received_cannot_be_handled_again(hook: Hook, message: str) -> None:
    await hook.make()
    await hook.send(b"1")
    assert (await hook.rehandle(message)).status_code == 404
    assert len(await hook.history()) == 1


async def test_readers_see_the_history_and_do_not_handle_it_again(hook: Hook) -> None:
    await hook.make()
    await hook.send(b"1")
    [message] = await hook.history()
    answer = await hook.application.reader.post(f"/api/webhooks/{hook.name}/rehandle/{message['Id']}")
    assert answer.status_code == 403
