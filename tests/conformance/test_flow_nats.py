"""`nats`: flows and a real NATS server that is not the platform's."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from nats.aio.msg import Msg

from penstock.egress.address_guard import AddressRefused
from penstock.flow.nats_link import NatsFailed
from penstock.flow.surroundings import Reach
from penstock.flow.variables import Variable
from tests.conformance.flow_sources import once, route
from tests.conformance.running_engine import RunningEngine, eventually, running_engine
from tests.foreign_nats import PASSWORD, USER, ForeignNats, foreign_nats

GRACE = timedelta(seconds=30)
SERVERS = "{{var:nats}}"


@asynccontextmanager
async def engine(server: ForeignNats, allow_private: bool = True) -> AsyncIterator[RunningEngine]:
    password = PASSWORD.replace(" ", "%20")
    address = server.url.replace("nats://", f"nats://{USER}:{password}@")
    variables = {"nats": Variable(address, is_secret=True)}
    async with running_engine(reach=Reach(allow_private=allow_private), variables=variables) as running:
        yield running


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ForeignNats]:
    async with foreign_nats(tmp_path / "nats") as running:
        yield running


@pytest.fixture
async def running(server: ForeignNats) -> AsyncIterator[RunningEngine]:
    async with engine(server) as running:
        yield running


async def test_a_flow_hears_what_is_published_with_its_headers(server: ForeignNats, running: RunningEngine) -> None:
    log = "log: '${body} ${header.CamelNatsSubject} ${header.X-Mine} ${header.CamelFileName}'"
    await running.start("hearing", route("nats:orders.>", log, servers=SERVERS))
    await server.client.publish("orders.new", "hällo".encode(), headers={"X-Mine": "m", "CamelFileName": "evil"})
    await eventually(lambda: bool(running.listener.messages))
    assert running.listener.messages == ["hällo orders.new m "]


async def test_messages_are_taken_one_after_the_other(server: ForeignNats, running: RunningEngine) -> None:
    slow = "to: {uri: exec:sleep, parameters: {args: ['0.05']}}"
    await running.start("ordered", route("nats:orders", "log: 'begin ${body}'", slow, "log: end", servers=SERVERS))
    for number in range(3):
        await server.client.publish("orders", str(number).encode())
    await running.settled("ordered", 3)
    assert running.listener.messages == ["begin 0", "end", "begin 1", "end", "begin 2", "end"]


async def test_members_of_a_queue_group_share_the_messages(server: ForeignNats, running: RunningEngine) -> None:
    for name in ("one", "two"):
        await running.start(name, route("nats:orders", "log: '${body}'", servers=SERVERS, queueName="workers"))
    for number in range(10):
        await server.client.publish("orders", str(number).encode())
    await eventually(lambda: len(running.listener.messages) == 10)
    await asyncio.sleep(0.1)
    assert sorted(running.listener.messages) == [str(number) for number in range(10)]


async def test_a_message_that_asks_is_answered_with_the_body(server: ForeignNats, running: RunningEngine) -> None:
    await running.start("answering", route("nats:ask", "setBody: {simple: 'you said ${body}'}", servers=SERVERS))
    answer = await server.client.request("ask", b"hello", timeout=10)
    assert answer.data == b"you said hello"


async def test_an_answer_goes_out_although_the_flow_stops_meanwhile(
    server: ForeignNats, running: RunningEngine
) -> None:
    slow = "to: {uri: exec:sleep, parameters: {args: ['0.3']}}"
    await running.start("answering", route("nats:ask", slow, "setBody: {constant: done}", servers=SERVERS))
    asking = asyncio.create_task(server.client.request("ask", b"hello", timeout=10))
    await eventually(lambda: bool(running.listener.started))
    await running.engine.stop("answering", GRACE)
    assert (await asking).data == b"done"


async def test_a_flow_that_was_stopped_hears_nothing(server: ForeignNats, running: RunningEngine) -> None:
    await running.start("stopped", route("nats:orders", "log: '${body}'", servers=SERVERS))
    await running.engine.stop("stopped", GRACE)
    await server.client.publish("orders", b"late")
    await server.client.flush()
    await asyncio.sleep(0.1)
    assert running.listener.messages == []


async def test_a_new_version_takes_over_between_two_messages(server: ForeignNats, running: RunningEngine) -> None:
    async def publish() -> None:
        for number in range(200):
            await server.client.publish("orders", str(number).encode())
            await asyncio.sleep(0.002)

    await running.start("changing", route("nats:orders", "log: '${body}'", servers=SERVERS))
    publishing = asyncio.create_task(publish())
    await eventually(lambda: len(running.listener.messages) > 20)
    await running.start("changing", route("nats:orders", "log: '${body}'", servers=SERVERS), version="2")
    await publishing
    await eventually(lambda: "199" in running.listener.messages)
    assert len(running.listener.messages) in range(198, 203)


async def test_a_flow_publishes_bodies_and_headers(server: ForeignNats, running: RunningEngine) -> None:
    heard: list[Msg] = []

    async def hear(message: Msg) -> None:
        heard.append(message)

    await server.client.subscribe("orders", cb=hear)
    await server.client.flush()
    to = f"to: {{uri: nats:orders, parameters: {{servers: '{SERVERS}', replySubject: answers}}}}"
    headers = ["setHeader: {name: X-Mine, constant: m}", "setHeader: {name: CamelThing, constant: hidden}"]
    await running.start("publishing", once(*headers, to, body="hällo"))
    await eventually(lambda: bool(heard))
    assert (heard[0].data.decode(), heard[0].reply) == ("hällo", "answers")
    assert dict(heard[0].headers or {}) == {"X-Mine": "m"}


async def test_a_flow_asks_when_somebody_waits_for_its_answer(server: ForeignNats, running: RunningEngine) -> None:
    async def answer(message: Msg) -> None:
        await message.respond(message.data.upper())

    await server.client.subscribe("shout", cb=answer)
    await server.client.flush()
    to = f"to: {{uri: nats:shout, parameters: {{servers: '{SERVERS}'}}}}"
    await running.start("asking", route("nats:ask", to, servers=SERVERS))
    assert (await server.client.request("ask", b"hello", timeout=10)).data == b"HELLO"


async def test_a_question_is_waited_for_no_longer_than_the_flow_says(
    server: ForeignNats, running: RunningEngine
) -> None:
    await server.client.subscribe("silent")
    await server.client.flush()
    to = f"to: {{uri: nats:silent, parameters: {{servers: '{SERVERS}', requestTimeout: 100}}}}"
    await running.start("asking", route("nats:ask", to, servers=SERVERS))
    await server.client.publish("ask", b"hello", "inbox")
    await running.settled("asking")
    assert running.listener.messages[0].startswith("Exchange failed: nobody answered on 'silent' within")


async def test_without_a_body_there_is_nothing_to_publish(running: RunningEngine) -> None:
    await running.start("empty", once(f"to: {{uri: nats:orders, parameters: {{servers: '{SERVERS}'}}}}"))
    await running.settled("empty")
    assert running.listener.messages == ["Exchange failed: No body available of type: java.lang.String"]


async def test_a_lost_connection_is_made_again(server: ForeignNats, running: RunningEngine) -> None:
    await running.start("lasting", route("nats:orders", "log: '${body}'", servers=SERVERS, reconnectTimeWait=50))
    await server.stop()
    await eventually(lambda: "The connection to NATS was lost" in running.listener.messages)
    await server.start()
    await eventually(lambda: "The connection to NATS is there again" in running.listener.messages)
    await server.client.publish("orders", b"after")
    await eventually(lambda: running.listener.messages[-1] == "after")


async def test_a_connection_that_stays_lost_is_the_flows_crash(server: ForeignNats, running: RunningEngine) -> None:
    options = {"reconnectTimeWait": 20, "maxReconnectAttempts": 2}
    await running.start("crashing", route("nats:orders", "log: on", servers=SERVERS, **options))
    await server.stop()
    await eventually(lambda: "no NATS server can be reached" in (running.engine.status("crashing").error or ""))


async def test_a_flow_does_not_start_without_its_server_and_shows_no_password(
    server: ForeignNats, running: RunningEngine
) -> None:
    await server.stop()
    with pytest.raises(NatsFailed, match="no NATS server can be reached") as refused:
        await running.start("early", route("nats:orders", "log: on", servers=SERVERS))
    assert PASSWORD not in str(refused.value)


async def test_a_wrong_password_is_refused_and_not_shown(server: ForeignNats) -> None:
    async with running_engine(reach=Reach(allow_private=True)) as running:
        servers = server.url.replace("nats://", "nats://somebody:wrong-word@")
        with pytest.raises(NatsFailed) as refused:
            await running.start("wrong", route("nats:orders", "log: on", servers=servers))
    assert "wrong-word" not in str(refused.value)


async def test_private_addresses_are_refused_unless_the_agent_allows_them(server: ForeignNats) -> None:
    async with engine(server, allow_private=False) as running:
        with pytest.raises(AddressRefused):
            await running.start("private", route("nats:orders", "log: on", servers=SERVERS))
