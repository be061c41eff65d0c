"""What an agent may do on the bus, and what it may not, on a real server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID, uuid4

import msgspec
import pytest

from penstock.bus.bus import Bus
from penstock.bus.consumer import Consumer, ConsumerSpec
from penstock.bus.credentials import BusKeys, UserCredential, agent_inbox
from penstock.bus.message import Delivered, Received
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.errors import Forbidden, Unauthenticated, Unavailable
from tests.nats_server import NatsServer, eventually

pytest_plugins = ("tests.nats",)
STREAM = "AGENTS"


class Agent(NamedTuple):
    id: UUID
    bus: Bus


@pytest.fixture
async def agents(bus: Bus, nats_server: NatsServer) -> AsyncIterator[tuple[Agent, Agent]]:
    await Streams(bus).ensure(StreamSpec(name=STREAM, subjects=["agent.*.report.>"]))
    a, b = uuid4(), uuid4()
    async with AsyncExitStack() as stack:
        yield (
            Agent(a, await stack.enter_async_context(await nats_server.connect_agent(a))),
            Agent(b, await stack.enter_async_context(await nats_server.connect_agent(b))),
        )


async def count(bus: Bus, subject: str) -> int:
    info = await bus.api(f"STREAM.INFO.{STREAM}", {"subjects_filter": subject}, dict)
    return sum((info["state"].get("subjects") or {}).values())


async def test_an_agent_stores_its_reports_durably(bus: Bus, agents: tuple[Agent, Agent]) -> None:
    a, _ = agents
    ack = await a.bus.publish(f"agent.{a.id}.report.run", b"{}", message_id=f"{a.id}")
    again = await a.bus.publish(f"agent.{a.id}.report.run", b"{}", message_id=f"{a.id}")
    assert (ack.stream, ack.duplicate, again.duplicate) == (STREAM, False, True)
    assert await count(bus, f"agent.{a.id}.>") == 1


async def test_an_agent_asks_and_is_answered(bus: Bus, agents: tuple[Agent, Agent]) -> None:
    a, _ = agents

    async def answer(request: Received) -> bytes:
        return request.subject.encode() + request.data

    responder = await bus.respond("agent.*.ask.>", answer, queue="servers")
    answered = await a.bus.request(f"agent.{a.id}.ask.state", b"?")
    assert answered.data == f"agent.{a.id}.ask.state?".encode()
    await responder.stop()


async def test_an_agent_may_not_speak_for_another(bus: Bus, agents: tuple[Agent, Agent]) -> None:
    a, b = agents
    with pytest.raises(Forbidden):
        await a.bus.publish(f"agent.{b.id}.report.run", b"{}")
    with pytest.raises(Forbidden):
        await a.bus.request(f"agent.{b.id}.ask.state")
    assert await count(bus, f"agent.{b.id}.>") == 0


@pytest.mark.parametrize(
    "subject", ["to.{b}.>", "to.>", "_INBOX.{b}.>", "_INBOX.>", "agent.{b}.>", "agent.{a}.>", ">", "$JS.>"]
)
async def test_an_agent_may_not_listen_beyond_what_is_sent_to_it(agents: tuple[Agent, Agent], subject: str) -> None:
    a, b = agents

    async def ignore(message: Received) -> None:
        pass

    with pytest.raises(Forbidden):
        await a.bus.subscribe(subject.format(a=a.id, b=b.id), ignore)


@pytest.mark.parametrize(
    "subject", ["$JS.API.INFO", "$JS.API.STREAM.PURGE.AGENTS", "$SRV.INFO", "$SYS.REQ.SERVER.PING", "to.{b}.x"]
)
async def test_an_agent_may_not_ask_the_broker(agents: tuple[Agent, Agent], subject: str) -> None:
    a, b = agents
    with pytest.raises(Forbidden):
        await a.bus.request(subject.format(b=b.id))


@pytest.mark.parametrize(
    "reply",
    ["$JS.API.STREAM.PURGE.AGENTS", "agent.{b}.report.run", "agent.{b}.ask.state", "changed.flows", "to.{b}.x"],
)
async def test_a_reply_subject_gives_an_agent_no_reach_into_the_platform(
    bus: Bus, agents: tuple[Agent, Agent], reply: str
) -> None:
    a, b = agents
    reply = reply.format(b=b.id)
    seen: list[str] = []

    async def note(message: Received) -> None:
        seen.append(message.subject)

    async def answer(request: Received) -> bytes:
        return b"answer"

    listening = [await bus.subscribe(subject, note) for subject in (reply, f"agent.{b.id}.>", "changed.>")]
    responder = await bus.respond("agent.*.ask.>", answer, queue="servers")
    await a.bus.notify(f"agent.{a.id}.report.run", b"{}", reply=reply)
    await a.bus.notify(f"agent.{a.id}.ask.state", b"{}", reply=reply)
    await a.bus.request(f"agent.{a.id}.ask.state")  # what was sent before has been answered
    await bus.publish("agent.end.report.run", b"")
    assert seen == []
    assert await count(bus, f"agent.{a.id}.>") == 1
    assert await count(bus, f"agent.{b.id}.>") == 0
    for subscription in (*listening, responder):
        await subscription.stop()


async def test_what_reaches_another_agent_by_a_reply_subject_is_an_answer_to_the_sender_at_most(
    bus: Bus, agents: tuple[Agent, Agent]
) -> None:
    """The one reach that accounts leave: so a notice is a hint, and answers to agents are signed."""
    a, b = agents
    heard: list[bytes] = []

    async def note(message: Received) -> None:
        heard.append(message.data)

    await b.bus.subscribe(f"to.{b.id}.>", note)
    ack = await a.bus.publish(f"agent.{a.id}.report.run", b"{}")
    await a.bus.notify(f"agent.{a.id}.report.run", b"forged", reply=f"to.{b.id}.changed")
    await eventually(lambda: len(heard) == 1)
    assert msgspec.json.decode(heard[0]) == {"stream": STREAM, "seq": ack.sequence + 1}


async def test_a_credential_of_other_keys_is_refused(nats_server: NatsServer) -> None:
    with pytest.raises(Unauthenticated):
        await Bus.connect(nats_server.url, BusKeys.generate().server_user(), name="stranger")


async def test_a_connection_whose_credential_expires_is_renewed(
    bus: Bus, nats_server: NatsServer, agents: tuple[Agent, Agent]
) -> None:
    agent = uuid4()
    fetched: list[UserCredential] = []

    async def fetch() -> UserCredential:
        expires = datetime.now(UTC) + timedelta(seconds=2 if not fetched else 3600)
        fetched.append(nats_server.keys.agent_user(agent, expires))
        return fetched[-1]

    heard: list[bytes] = []

    async def note(message: Received) -> None:
        heard.append(message.data)

    connection = await Bus.connect(nats_server.url, fetch, name="agent", inbox_prefix=agent_inbox(agent))
    async with connection as agent_bus:
        await agent_bus.subscribe(f"to.{agent}.>", note)
        await eventually(lambda: len(fetched) == 2 and agent_bus.connected)
        await agent_bus.publish(f"agent.{agent}.report.run", b"after")
        await bus.notify(f"to.{agent}.x", b"hello")
        await eventually(lambda: heard == [b"hello"])


async def test_without_a_new_credential_an_expired_connection_is_unavailable(
    nats_server: NatsServer, agents: tuple[Agent, Agent]
) -> None:
    async with await nats_server.connect_agent(uuid4(), lives=timedelta(seconds=2)) as expiring:
        await eventually(lambda: not expiring.connected)
        with pytest.raises(Unavailable):
            await expiring.request("agent.x.ask.y", timeout=0.5)


async def test_bytes_that_are_not_text_do_not_stop_the_servers(
    bus: Bus, nats_server: NatsServer, agents: tuple[Agent, Agent]
) -> None:
    a, _ = agents
    handled: list[str] = []

    async def handle(message: Delivered) -> None:
        handled.append(message.subject)

    spec = ConsumerSpec(stream=STREAM, name=f"c-{a.id}", subjects=[f"agent.{a.id}.report.>"])
    consuming = asyncio.create_task(Consumer(bus, spec).run(handle))
    await send_raw(a, b"\xff\xfe", b"NATS/1.0\r\n\r\n")
    await send_raw(a, b"x", b"NATS/1.0 100 \xff\xfe\r\n\r\n")
    await send_raw(a, b"x", b"NATS/1.0\r\n\xff: \xfe\r\n\r\n")
    await send_raw(a, b"x", b"\xff\xff\r\n")
    await a.bus.publish(f"agent.{a.id}.report.last", b"{}")
    await eventually(lambda: f"agent.{a.id}.report.last" in handled)
    consuming.cancel()
    await asyncio.wait([consuming])


async def test_messages_that_pretend_to_be_the_servers_status_are_handled_like_others(
    bus: Bus, agents: tuple[Agent, Agent]
) -> None:
    a, _ = agents
    for status in ("100", "408", "409", "503"):
        await a.bus.publish(f"agent.{a.id}.report.x", b"", headers={"Status": status})
    handled: list[str] = []

    async def handle(message: Delivered) -> None:
        handled.append(message.headers["Status"])

    spec = ConsumerSpec(stream=STREAM, name=f"c-{a.id}", subjects=[f"agent.{a.id}.report.>"])
    consuming = asyncio.create_task(Consumer(bus, spec).run(handle))
    await eventually(lambda: handled == ["100", "408", "409", "503"])
    consuming.cancel()
    await asyncio.wait([consuming])


async def send_raw(agent: Agent, kind: bytes, headers: bytes) -> None:
    """Sends a report byte by byte, past the checks of the client library."""
    session = await agent.bus.session()
    subject = b"agent.%s.report.%s" % (str(agent.id).encode(), kind)
    sizes = b"%d %d" % (len(headers), len(headers) + 2)
    await session.client._send_command(b"HPUB " + subject + b" " + sizes + b"\r\n" + headers + b"{}\r\n")
    await session.client.flush()
