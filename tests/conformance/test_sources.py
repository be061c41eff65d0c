"""The built-in event sources, on real files and servers; `database-change` is beside this file."""

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.connectors.source import SourceFailed
from penstock.connectors.standard_webhooks import signed_headers, signing_key
from penstock.egress.address_guard import AddressRefused
from penstock.kernel.errors import Forbidden, Invalid
from tests.conformance.source_use import Polled, listening, source, surroundings
from tests.foreign_nats import PASSWORD, USER, ForeignNats, foreign_nats
from tests.http_sink import HttpSink, Reply, http_sink
from tests.nats_server import free_port

# file-watch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "watched"
    folder.mkdir()
    return folder


def watch(folder: Path, **options: Any) -> Polled:
    return Polled(source("file-watch", folder=str(folder), **{"settleSeconds": 0, **options}))


async def test_files_that_come_change_and_go_are_told_and_those_there_before_are_not(folder: Path) -> None:
    (folder / "old").write_text("1")
    watched = watch(folder)
    assert await watched.poll() == []
    (folder / "new").write_text("2")
    (folder / "old").write_text("longer")
    told = {(found.type.rsplit(".", 1)[1], found.subject) for found in await watched.poll()}
    assert told == {("created", "new"), ("changed", "old")}
    (folder / "old").unlink()
    [gone] = await watched.poll()
    assert (gone.type, gone.data["Name"], gone.data["Size"]) == ("penstock.file.deleted", "old", 6)
    assert await watched.poll() == []


async def test_only_files_that_match_are_watched_and_links_are_not_followed(folder: Path) -> None:
    watched = watch(folder, pattern="*.csv", recursive=True)
    await watched.poll()
    (folder / "in").mkdir()
    for name in ("a.csv", "b.txt", "in/c.csv"):
        (folder / name).write_text("x")
    (folder / "d.csv").symlink_to("/etc/passwd")
    assert sorted(found.subject or "" for found in await watched.poll()) == ["a.csv", "in/c.csv"]


async def test_a_file_that_is_still_written_to_waits_until_it_has_settled(folder: Path) -> None:
    watched = watch(folder, settleSeconds=3600)
    await watched.poll()
    (folder / "large").write_text("half")
    assert await watched.poll() == []
    long_ago = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    os.utime(folder / "large", (long_ago, long_ago))
    [found] = await watched.poll()
    assert found.time == datetime(2026, 1, 1, tzinfo=UTC)


async def test_content_comes_along_when_it_is_asked_for_and_small_enough(folder: Path) -> None:
    watched = watch(folder, content="base64", contentBytes=3)
    await watched.poll()
    (folder / "a").write_bytes(b"\x00\x01")
    (folder / "b").write_bytes(b"too much")
    found = {each.subject: each.data.get("Base64") for each in await watched.poll()}
    assert found == {"a": "AAE=", "b": None}


async def test_a_folder_that_is_away_is_a_failure_and_not_the_end_of_its_files(folder: Path) -> None:
    (folder / "kept").write_text("1")
    watched = watch(folder)
    await watched.poll()
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(SourceFailed, match="No such file"):
        await watched.poll()
    folder.with_name("elsewhere").rename(folder)
    assert await watched.poll() == []


async def test_many_new_files_are_each_told_once(folder: Path) -> None:
    watched = watch(folder)
    await watched.poll()
    for number in range(450):
        (folder / str(number)).touch()
    keys = [found.key for found in await watched.poll()]
    assert len(keys) == len(set(keys)) == 450


async def test_files_are_read_below_the_allowed_folders_only(folder: Path, tmp_path: Path) -> None:
    (folder / "up").symlink_to(tmp_path)
    around = surroundings(folders=[folder])
    assert await Polled(source("file-watch", folder=str(folder)), around).poll() == []
    for outside in (tmp_path, folder / "up", folder / ".."):
        with pytest.raises(Forbidden):
            await Polled(source("file-watch", folder=str(outside)), around).poll()


# http-poll


@pytest.fixture
async def sink() -> AsyncIterator[HttpSink]:
    async with http_sink() as running:
        yield running


async def test_answers_are_compared_when_the_server_knows_no_etags(sink: HttpSink) -> None:
    body = [b"a"]
    sink.answer = lambda request: Reply(200, {"content-type": "text/plain"}, body[0])
    polled = Polled(source("http-poll", url=sink.url))
    assert await polled.poll() == []
    assert await polled.poll() == []
    body[0] = b"b"
    [changed] = await polled.poll()
    assert (changed.data, changed.media_type) == ("b", "text/plain")


async def test_an_answer_that_comes_back_is_another_event(sink: HttpSink) -> None:
    polled = Polled(source("http-poll", url=sink.url))
    keys = []
    for body in (b"a", b"b", b"a", b"b", b"a"):
        sink.answer = lambda request, body=body: Reply(200, {}, body)  # type: ignore[misc]
        keys += [found.key for found in await polled.poll()]
    assert len(keys) == len(set(keys)) == 4


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(500), "answers 500"),
        (Reply(302, {"location": "http://127.0.0.1:1/"}), "answers 302"),
        (Reply(304), "answers 304"),
        (Reply(200, {}, b"x" * 2000), "more than 1000 bytes"),
    ],
)
async def test_what_is_no_answer_is_a_failure(sink: HttpSink, reply: Reply, reason: str) -> None:
    sink.answer = lambda request: reply
    with pytest.raises(SourceFailed, match=reason):
        await Polled(source("http-poll", url=sink.url, mostBytes=1000)).poll()


async def test_the_wait_that_a_server_asks_for_is_told(sink: HttpSink) -> None:
    sink.answer = lambda request: Reply(503, {"retry-after": "120"})
    with pytest.raises(SourceFailed) as failure:
        await Polled(source("http-poll", url=sink.url)).poll()
    assert failure.value.retry_after == 120


async def test_private_addresses_are_refused(sink: HttpSink) -> None:
    with pytest.raises(AddressRefused):
        await Polled(source("http-poll", url=sink.url), surroundings(allow_private=False)).poll()
    assert sink.requests == []


@pytest.mark.parametrize("url", ["ftp://x/", "http://", "http://u:p@x/", "x"])
def test_what_is_no_http_address_is_refused(url: str) -> None:
    with pytest.raises(Invalid, match="url"):
        source("http-poll", url=url)


# nats


@pytest.fixture
async def nats(tmp_path: Path) -> AsyncIterator[ForeignNats]:
    async with foreign_nats(tmp_path / "nats") as server:
        yield server


def reads(nats: ForeignNats, **options: Any) -> Any:
    return source("nats", servers=[nats.url], user=USER, password=PASSWORD, **options)


async def test_messages_of_a_subject_are_heard_with_their_content(nats: ForeignNats) -> None:
    async with listening(reads(nats, subject="a.*")) as heard:
        await nats.client.publish("a.1", b'{"n": 1}')
        await nats.client.publish("a.2", b"text", headers={"Content-Type": "text/plain; charset=utf-8"})
        await nats.client.publish("b.1", b"of others")
        await nats.client.publish("a.3", b"\xff")
        await heard.until(lambda: len(heard.found) == 3)
    assert [(found.subject, found.data) for found in heard.found] == [
        ("a.1", {"n": 1}),
        ("a.2", "text"),
        ("a.3", b"\xff"),
    ]
    assert len({found.key for found in heard.found}) == 3


async def test_a_stream_is_read_on_from_where_it_was_left(nats: ForeignNats) -> None:
    stream = nats.client.jetstream()
    await stream.add_stream(name="s", subjects=["s.>"])
    await stream.publish("s.x", b"0")
    use = reads(nats, subject="s.x", stream="s")
    async with listening(use) as heard:
        await stream.publish("s.x", b"1")
        await heard.until(lambda: len(heard.found) == 1)
    await stream.publish("s.x", b"2")
    await stream.publish("s.y", b"of another subject")
    async with listening(use, heard.position) as again:
        await again.until(lambda: len(again.found) == 1)
    assert [found.data for found in (*heard.found, *again.found)] == [1, 2]


async def test_a_lost_connection_ends_the_listening_so_that_it_begins_anew(nats: ForeignNats) -> None:
    async with listening(reads(nats, subject="a")) as heard:
        await nats.stop()
        await heard.until(lambda: heard.ended is not None)
    assert isinstance(heard.ended, SourceFailed)
    await nats.start()


async def test_a_server_that_refuses_or_is_away_is_a_failure_without_the_password(nats: ForeignNats) -> None:
    wrong = source("nats", servers=[nats.url], subject="a", user=USER, password="not the password")
    away = source("nats", servers=[f"nats://127.0.0.1:{free_port()}"], subject="a")
    gone = reads(nats, subject="a", stream="no-such-stream")
    for use in (wrong, away, gone):
        async with listening(use) as heard:
            assert isinstance(heard.ended, SourceFailed)
            assert "password" not in heard.ended.detail


# webhook

SECRET = "whsec_" + "A" * 32


async def test_a_signed_request_is_an_event_and_others_are_refused() -> None:
    port = free_port()
    use = source("webhook", port=port, path="/in", secrets=[SECRET])
    async with listening(use) as heard, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        body = b'{"n":1}'
        signed = signed_headers("msg-1", datetime.now(UTC), body, [signing_key(SECRET)])
        headers = {**signed, "content-type": "application/json"}
        assert (await client.post("/in", content=body, headers=headers)).status_code == 202
        assert (await client.post("/in", content=body)).status_code == 401
        assert (await client.post("/in", content=b"other", headers=headers)).status_code == 401
        assert (await client.post("/elsewhere", content=body, headers=headers)).status_code == 404
    [found] = heard.found
    assert (found.key, found.data, found.type) == ("msg-1", {"n": 1}, "penstock.webhook.received")


async def test_a_token_lets_requests_in_and_a_size_keeps_them_out() -> None:
    port = free_port()
    use = source("webhook", port=port, token="the token", mostBytes=10)
    async with listening(use) as heard, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        bearer = {"Authorization": "Bearer the token"}
        assert (await client.put("/", content=b"ok", headers=bearer)).status_code == 202
        assert (await client.put("/", content=b"ok", headers={"Authorization": "Bearer x"})).status_code == 401
        assert (await client.put("/", content=b"x" * 11, headers=bearer)).status_code == 413
    assert [found.data for found in heard.found] == [b"ok"]


async def test_a_request_is_answered_only_when_its_event_is_kept() -> None:
    port = free_port()
    async with listening(source("webhook", port=port, open=True)) as heard, httpx.AsyncClient() as client:
        heard.refuse = True
        answer = await client.post(f"http://127.0.0.1:{port}/", content=b"x")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        heard.refuse = False
        assert (await client.post(f"http://127.0.0.1:{port}/", content=b"x")).status_code == 202
    assert len(heard.found) == 1


async def test_a_port_that_is_taken_is_a_failure() -> None:
    async with http_sink() as sink, listening(source("webhook", port=sink.port, open=True)) as heard:
        assert isinstance(heard.ended, SourceFailed)
        assert "Address already in use" in heard.ended.detail or "address already in use" in heard.ended.detail


@pytest.mark.parametrize("options", [{}, {"secrets": ["short"]}])
def test_a_webhook_without_a_check_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match="secrets"):
        source("webhook", port=8080, **options)


# timer and what is common


async def test_a_timer_finds_its_due_time() -> None:
    around = surroundings()
    [found] = await Polled(source("timer"), around).poll()
    assert found.time == around.due
    assert datetime.fromisoformat(found.data["Due"]) == around.due


@pytest.mark.parametrize(("field", "value"), [("source", "not a uri"), ("eventType", "")])
def test_attributes_that_make_no_event_are_refused(field: str, value: str) -> None:
    with pytest.raises(Invalid, match=field):
        source("timer", **{field: value})
