"""Event sources on an agent that is a process of its own: followed, killed, gone on with."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest

from penstock.bus.credentials import BusKeys
from penstock.bus.embedded import EmbeddedServer
from penstock.kernel.duration import Duration
from penstock.protocol import subjects
from penstock.protocol.event_source import EventSourceStatus, EventSourceStatusEnum, SourceItem, SourcePackage
from penstock.protocol.work import VariableValue
from tests.areas.files import files_that_contain
from tests.conformance.agent_process import AgentProcess, agent_process
from tests.conformance.agent_servers import Servers, running_servers
from tests.http_sink import HttpSink, Reply, http_sink
from tests.nats_server import NatsServer, eventually
from tests.wheel import connector_wheel

pytest_plugins = ("tests.nats",)

STARTED, FAILED = EventSourceStatusEnum.STARTED, EventSourceStatusEnum.FAILED
OFTEN = Duration(milliseconds=200)


@pytest.fixture
async def servers(nats_server: NatsServer) -> AsyncIterator[Servers]:
    async with running_servers(nats_server) as servers:
        yield servers


@pytest.fixture
async def agent(servers: Servers, tmp_path: Path) -> AsyncIterator[AgentProcess]:
    connector_wheel(tmp_path / "wheels")
    settings = {
        "ALLOW_PRIVATE_ADDRESSES": "true",
        "PACKAGE_INDEX": "none",
        "PACKAGE_FOLDER": str(tmp_path / "wheels"),
    }
    async with agent_process(servers, tmp_path / "agent", **settings) as agent:
        yield agent


@pytest.fixture
async def sink() -> AsyncIterator[HttpSink]:
    async with http_sink() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "watched"
    folder.mkdir()
    return folder


def put(servers: Servers, kind: str, id: UUID | None = None, has_secrets: bool = False, **fields: Any) -> UUID:
    """Makes an event source work of the agents. Fields of the item, or of its configuration."""
    own = {name: fields.pop(name) for name in list(fields) if name in SourceItem.__struct_fields__}
    item = SourceItem(
        **{
            "name": kind,
            "type": kind,
            "version": "1.0.0",
            "configuration": msgspec.json.encode(fields).decode(),
            "requires_polling": True,
            "shared": False,
            "frequency": OFTEN,
            **own,
        }
    )
    return servers.assign(subjects.SOURCES, item, id, has_secrets=has_secrets)


def told(servers: Servers, id: UUID | None = None) -> list[EventSourceStatus]:
    """The statuses that were reported."""
    return servers.of_agent.statuses(subjects.SOURCES, EventSourceStatus, id)


def removals(servers: Servers) -> list[UUID]:
    return [state.key for state in servers.of_agent.assigned[subjects.SOURCES] if state.removed]


def watch(servers: Servers, folder: Path, **fields: Any) -> UUID:
    return put(servers, "file-watch", folder=str(folder), settleSeconds=0, **fields)


def stands(servers: Servers, id: UUID, status: EventSourceStatusEnum) -> bool:
    return bool(servers.credentials) and servers.of_agent.source(id) is status


def names(servers: Servers) -> list[str]:
    """The files that events told of, in their order."""
    return [str(event.subject) for event in servers.of_agent.events]


async def test_events_of_a_timer_are_reported_with_an_id_for_each_due_time(
    servers: Servers, agent: AgentProcess
) -> None:
    id = put(servers, "timer", data=1)
    await agent.start()
    await eventually(lambda: bool(servers.credentials) and len(servers.of_agent.events) >= 3)
    events = servers.of_agent.events
    assert len({event.id for event in events}) == len(events)
    assert {(event.source, event.data) for event in events} == {("/eventsources/timer", 1)}
    moves = [move.new_status for move in told(servers)[-1].messages or ()]
    assert moves == ["Initializing", "Initialized", "Starting", "Started"]
    assert stands(servers, id, STARTED)


async def test_nothing_is_lost_or_told_twice_over_a_kill(servers: Servers, agent: AgentProcess, folder: Path) -> None:
    (folder / "before").touch()
    id = watch(servers, folder)
    await agent.start()
    await eventually(lambda: stands(servers, id, STARTED))
    (folder / "1").touch()
    await eventually(lambda: names(servers) == ["1"])
    await agent.kill()
    (folder / "2").touch()
    await agent.start()
    await eventually(lambda: "2" in names(servers))
    (folder / "3").touch()
    await eventually(lambda: "3" in names(servers))
    assert names(servers) == ["1", "2", "3"]
    moves = [(move.new_status, move.message) for status in told(servers) for move in status.messages or ()]
    assert ("Stopped", "the agent ended") in moves


async def test_sources_go_on_while_the_bus_is_away_and_their_events_arrive_later(tmp_path: Path, folder: Path) -> None:
    keys = BusKeys.generate()
    async with EmbeddedServer(tmp_path / "nats", keys) as nats, running_servers(NatsServer(nats.url, keys)) as servers:
        id = watch(servers, folder)
        async with agent_process(servers, tmp_path / "agent") as agent:
            await agent.start()
            await eventually(lambda: stands(servers, id, STARTED))
            await nats.stop()
            (folder / "meanwhile").touch()

            def kept() -> bool:
                with closing(sqlite3.connect(agent.folder / "agent.db")) as connection:
                    return bool(connection.execute("SELECT 1 FROM outbox WHERE part = 'event'").fetchall())

            await eventually(kept)
            await agent.kill()
            await nats.start()
            await agent.start()
            await eventually(lambda: names(servers) == ["meanwhile"])


async def test_a_source_that_is_removed_is_stopped_and_told_so(
    servers: Servers, agent: AgentProcess, folder: Path
) -> None:
    id = watch(servers, folder)
    await agent.start()
    await eventually(lambda: stands(servers, id, STARTED))
    del servers.assigned[subjects.SOURCES][id]
    await servers.tell_assigned(subjects.SOURCES)
    await eventually(lambda: removals(servers) == [id])
    assert [move.new_status for move in told(servers, id)[-1].messages or ()][-3:] == ["Stopping", "Stopped", "Removed"]
    (folder / "after").touch()
    other = put(servers, "timer")
    await servers.tell_assigned(subjects.SOURCES)
    await eventually(lambda: stands(servers, other, STARTED) and bool(servers.of_agent.events))
    assert {event.type for event in servers.of_agent.events} == {"penstock.timer.due"}


async def test_a_changed_source_reads_on_unless_it_reads_something_else(
    servers: Servers, agent: AgentProcess, folder: Path, tmp_path: Path
) -> None:
    id = watch(servers, folder)
    await agent.start()
    await eventually(lambda: stands(servers, id, STARTED))
    await agent.stop()
    (folder / "1").touch()
    other = tmp_path / "other"
    other.mkdir()
    (other / "there before").touch()
    watch(servers, folder, id=id, content="text")
    await agent.start()
    await eventually(lambda: names(servers) == ["1"])
    watch(servers, other, id=id)
    changed = datetime.now(UTC)
    await servers.tell_assigned(subjects.SOURCES)
    await eventually(lambda: stands(servers, id, STARTED) and told(servers, id)[-1].last_status_update > changed)
    (other / "2").touch()
    await eventually(lambda: len(servers.of_agent.events) == 2)
    assert names(servers) == ["1", "2"]


async def test_variables_and_secrets_are_used_and_do_not_reach_the_disk(
    servers: Servers, agent: AgentProcess, sink: HttpSink
) -> None:
    secret, own = "the secret of the variable", "a secret of its own"
    servers.variables["TOKEN"] = VariableValue(value=secret, is_secret=True)
    sink.answer = lambda request: Reply(500)
    put(servers, "http-poll", name="a", url=sink.url, authorization="{{var:TOKEN}}", variables={"X": "y"})
    put(
        servers,
        "http-poll",
        name="b",
        url=sink.url,
        authorization=own,
        headers={"x": "{{var:x}}"},
        has_secrets=True,
        variables={"X": "y"},
    )
    await agent.start()
    requests = await sink.received(4)
    assert {request.headers["authorization"] for request in requests} == {secret, own}
    assert {request.headers.get("x") for request in requests} == {None, "y"}
    await agent.stop()
    for text in (secret, own):
        assert files_that_contain(agent.folder, text) == []
        assert text not in agent.log
    sink.requests.clear()
    await agent.start()
    await eventually(lambda: {request.headers["authorization"] for request in sink.requests} == {secret, own})


async def test_a_failing_source_hurts_no_other_and_tells_why(servers: Servers, agent: AgentProcess) -> None:
    broken = put(servers, "file-watch", folder="/no/such/folder")
    unknown = put(servers, "no-such-kind")
    put(servers, "timer")
    await agent.start()
    await eventually(lambda: stands(servers, broken, FAILED) and bool(servers.of_agent.events))
    await eventually(lambda: stands(servers, unknown, EventSourceStatusEnum.INITIALIZING_FAILED))
    assert "/no/such/folder" in ((told(servers, broken)[-1].messages or [])[-1].message or "")


async def test_kinds_of_packages_run_without_the_agents_environment(servers: Servers, agent: AgentProcess) -> None:
    package = SourcePackage(name="acme-connectors", version="1.0.0")
    schema = '{"properties": {"step": {"type": "integer"}}}'
    put(servers, "acme-count", step=3, package=package, schema=schema)
    agent.environment["SECRET_OF_THE_AGENT"] = "x"
    await agent.start()
    await eventually(lambda: bool(servers.credentials) and len(servers.of_agent.events) >= 2)
    first, second = servers.of_agent.events[:2]
    assert (first.data["Count"], second.data["Count"]) == (3, 6)
    assert "SECRET_OF_THE_AGENT" not in first.data["Environment"]
    assert [name for name in first.data["Environment"] if name.startswith("PENSTOCK_AGENT_")] == ["PENSTOCK_AGENT_RUN"]
