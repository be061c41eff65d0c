import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import pytest

from penstock.bus.bus import Bus
from penstock.bus.message import Message
from penstock.bus.streams import Streams, StreamSpec
from tests.application import Application, running_application


class Stream:
    """A stream of the application, made for one test."""

    def __init__(self, application: Application, name: str) -> None:
        self.name = name
        self.path = f"/eventing/streams/{name}"
        self.bus = application.platform.container.get(Bus)
        self._subject = f"test.{uuid4().hex}"

    async def make(self, **options: Any) -> None:
        await Streams(self.bus).ensure(StreamSpec(name=self.name, subjects=[self._subject], **options))

    async def publish(self, *texts: str, **headers: str) -> None:
        for text in texts:
            await self.bus.publish(self._subject, text.encode(), headers=headers)

    async def publish_many(self, count: int) -> None:
        messages = [Message(subject=self._subject, body=str(n).encode()) for n in range(count)]
        await self.bus.publish_all(messages, in_flight=1)


@pytest.fixture
async def stream(application: Application) -> AsyncIterator[Stream]:
    made = Stream(application, f"schedule-t.{uuid4().hex}")
    await made.make()
    yield made
    await Streams(made.bus).delete(made.name)


def texts(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [base64.b64decode(message["Data"]).decode() for message in answer.json()]


@asynccontextmanager
async def followed(
    client: httpx.AsyncClient, path: str, query: dict[str, Any] | None = None, **headers: str
) -> AsyncIterator["Followed"]:
    async with client.stream("GET", path, params=query, headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Followed(answer)


class Followed:
    """Reads server-sent events as a browser would."""

    def __init__(self, answer: httpx.Response) -> None:
        self._lines = answer.aiter_lines()

    async def opened(self) -> None:
        async for line in self._lines:
            if not line:
                return

    async def next(self) -> tuple[int, str]:
        """The id and the text of the next message."""
        id_, data = "", ""
        async for line in self._lines:
            field, _, value = line.partition(": ")
            id_, data = (value if field == "id" else id_), (value if field == "data" else data)
            if not line and data:
                return int(id_), base64.b64decode(msgspec.json.decode(data)["Data"]).decode()
        raise EOFError

    async def ended(self) -> bool:
        return [line async for line in self._lines if line.startswith("data")] == []


# Listing


async def test_a_stream_is_listed_with_what_it_holds(application: Application, stream: Stream) -> None:
    await stream.publish("one", "two")
    found = (await application.reader.get("/eventing/streams")).json()
    [info] = [each for each in found if each["Name"] == stream.name]
    assert (info["Messages"], info["IsMirror"], info["Replicas"], info["Consumers"]) == (2, False, 1, 0)
    assert info["Bytes"] > 0
    assert datetime.fromisoformat(info["Created"]).utcoffset() is not None
    assert msgspec.json.decode(info["Configuration"])["storage"] == "file"


async def test_streams_of_the_platform_itself_are_neither_listed_nor_read(application: Application) -> None:
    internal = Stream(application, "KV_test-bucket")
    await internal.make()
    await internal.publish("secret")
    names = [each["Name"] for each in (await application.admin.get("/eventing/streams")).json()]
    assert "KV_test-bucket" not in names
    assert [name for name in names if name in ("AGENTS", "due")] == []
    assert (await application.admin.get(f"{internal.path}/messages")).status_code == 404
    assert (await application.admin.get(f"{internal.path}/follow")).status_code == 404


# Reading


async def test_messages_come_newest_first_with_all_there_is_about_them(
    application: Application, stream: Stream
) -> None:
    await stream.publish("one")
    await stream.publish("two", Colour="red")
    answer = await application.reader.get(f"{stream.path}/messages")
    assert texts(answer) == ["two", "one"]
    newest = answer.json()[0]
    assert newest["Sequence"] == 2
    assert newest["Headers"]["Colour"] == "red"
    assert newest["Subject"].startswith("test.")
    assert newest["Timestamp"].endswith("Z")


async def test_a_stream_is_read_in_pages_that_name_the_next(application: Application, stream: Stream) -> None:
    await stream.publish_many(250)
    first = await application.reader.get(f"{stream.path}/messages")
    assert texts(first) == [str(n) for n in range(249, 149, -1)]
    second = await application.reader.get(first.links["next"]["url"])
    third = await application.reader.get(second.links["next"]["url"])
    assert texts(second) + texts(third) == [str(n) for n in range(149, -1, -1)]
    assert "next" not in third.links


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"Count": 2}, ["4", "3"]),
        ({"Count": 2, "Skip": 1}, ["3", "2"]),
        ({"Skip": 4}, ["0"]),
        ({"Skip": 5}, []),
        ({"Skip": 900}, []),
        ({"Count": 0}, []),
        ({"Count": 1000}, ["4", "3", "2", "1", "0"]),
    ],
)
async def test_count_and_skip_choose_the_page(
    application: Application, stream: Stream, query: dict[str, Any], expected: list[str]
) -> None:
    await stream.publish_many(5)
    assert texts(await application.reader.get(f"{stream.path}/messages", params=query)) == expected


async def test_dates_bound_what_is_read(application: Application, stream: Stream) -> None:
    await stream.publish("before")
    since = datetime.now(UTC)
    await stream.publish("within")
    until = datetime.now(UTC)
    await stream.publish("after")
    path, begin, end = f"{stream.path}/messages", since.isoformat(), until.isoformat()
    reader = application.reader
    assert texts(await reader.get(path, params={"FromDate": begin})) == ["after", "within"]
    assert texts(await reader.get(path, params={"ToDate": end})) == ["within", "before"]
    assert texts(await reader.get(path, params={"FromDate": begin, "ToDate": end})) == ["within"]
    assert texts(await reader.get(path, params={"FromDate": end, "ToDate": begin})) == []


@pytest.mark.parametrize(
    "query",
    [{"Count": 1001}, {"Count": -1}, {"Skip": -1}, {"Count": "many"}, {"FromDate": "soon"}, {"Page": 1}],
)
async def test_bounds_out_of_range_are_refused_by_name(
    application: Application, stream: Stream, query: dict[str, Any]
) -> None:
    answer = await application.reader.get(f"{stream.path}/messages", params=query)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == list(query)


@pytest.mark.parametrize("name", ["schedule-none", "none", "schedule-%2E%2E", "a b", "schedule-*", "schedule-%3E"])
@pytest.mark.parametrize("what", ["messages", "follow"])
async def test_an_unknown_stream_is_not_found(application: Application, name: str, what: str) -> None:
    answer = await application.reader.get(f"/eventing/streams/{name}/{what}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


async def test_names_are_compared_without_case(application: Application, stream: Stream) -> None:
    await stream.publish("one")
    path = f"/eventing/streams/{stream.name.replace('schedule-t', 'schedule-T')}/messages"
    assert texts(await application.reader.get(path)) == ["one"]


# Following


async def test_following_gives_new_messages_as_they_come(application: Application, stream: Stream) -> None:
    await stream.publish("old")
    async with followed(application.reader, f"{stream.path}/follow") as following:
        await following.opened()
        await stream.publish("new", "newer")
        assert await following.next() == (2, "new")
        assert await following.next() == (3, "newer")


async def test_following_goes_on_behind_the_last_event_seen(application: Application, stream: Stream) -> None:
    await stream.publish("one", "two", "three")
    async with followed(application.reader, f"{stream.path}/follow", **{"Last-Event-ID": "1"}) as following:
        assert await following.next() == (2, "two")
        assert await following.next() == (3, "three")


async def test_following_may_begin_at_a_sequence(application: Application, stream: Stream) -> None:
    await stream.publish("one", "two")
    async with followed(application.reader, f"{stream.path}/follow", {"after": 0}) as following:
        assert [await following.next(), await following.next()] == [(1, "one"), (2, "two")]


async def test_a_last_event_of_an_earlier_stream_of_the_name_shows_all_of_this_one(
    application: Application, stream: Stream
) -> None:
    await stream.publish("one")
    async with followed(application.reader, f"{stream.path}/follow", **{"Last-Event-ID": "900"}) as following:
        assert await following.next() == (1, "one")


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 40, "\u00b2"])
async def test_a_last_event_that_is_no_sequence_is_refused(application: Application, stream: Stream, last: str) -> None:
    headers = {b"Last-Event-ID": last.encode()}
    answer = await application.reader.get(f"{stream.path}/follow", headers=headers)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "Last-Event-ID"


async def test_following_ends_with_the_stream(application: Application, stream: Stream) -> None:
    async with followed(application.reader, f"{stream.path}/follow") as following:
        await following.opened()
        await Streams(stream.bus).delete(stream.name)
        assert await following.ended()


async def test_following_ends_with_the_user(application: Application, stream: Stream) -> None:
    email = f"{uuid4().hex}@example.com"
    made = await application.admin.post("/identity/user", json={"Email": email, "Roles": "Reader"})
    guest = await application.client_for(email, made.json()["Password"])
    async with guest, followed(guest, f"{stream.path}/follow") as following:
        await following.opened()
        await stream.publish("seen")
        assert await following.next() == (1, "seen")
        assert (await application.admin.request("DELETE", "/identity/user", json=email)).status_code == 200
        await stream.publish("not for somebody who is gone")
        assert await following.ended()


async def test_who_leaves_is_no_longer_served(application: Application, stream: Stream) -> None:
    async with followed(application.reader, f"{stream.path}/follow") as following:
        await following.opened()
        while await consumers(stream) != 1:
            await asyncio.sleep(0.01)
    while await consumers(stream):
        await asyncio.sleep(0.01)


async def consumers(stream: Stream) -> int:
    return (await Streams(stream.bus).info(stream.name)).consumers


async def test_followers_do_not_keep_the_server_from_stopping(tmp_path: Path) -> None:
    async with running_application(tmp_path, PENSTOCK_GRACE_SECONDS="60") as application:
        stream = Stream(application, "schedule-endless")
        await stream.make()
        client = await application.client_for("admin", "correct horse battery staple")
        answer = await client.send(client.build_request("GET", f"{stream.path}/follow"), stream=True)
        following = Followed(answer)
        await following.opened()
    # The server has stopped: it ended the answer properly and did not wait for the reader.
    assert await following.ended()
    await answer.aclose()
    await client.aclose()
