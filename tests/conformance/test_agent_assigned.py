"""Assigned work of any kind on an agent that is a process of its own: what cannot be read, what cannot be kept."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest

from penstock.kernel.wire import Wire
from penstock.protocol import subjects
from penstock.protocol.web_job import WebJobItem, WebJobPhase, WebJobState
from tests.areas.files import files_that_contain
from tests.conformance.agent_process import AgentProcess, agent_process
from tests.conformance.agent_servers import Servers, running_servers
from tests.nats_server import NatsServer, eventually

pytest_plugins = ("tests.nats",)

KIND = subjects.WEB_JOBS


class Newer(Wire):
    """A body that this agent cannot read."""

    colour: str = "red"


@pytest.fixture
async def servers(nats_server: NatsServer) -> AsyncIterator[Servers]:
    async with running_servers(nats_server) as servers:
        yield servers


@pytest.fixture
async def agent(servers: Servers, tmp_path: Path) -> AsyncIterator[AgentProcess]:
    async with agent_process(servers, tmp_path / "agent") as agent:
        yield agent


def sleeper(name: str = "sleeper", **environment: str) -> WebJobItem:
    return WebJobItem(name=name, command="sleep", arguments=["1000"], environment=environment, started=True)


def phases(servers: Servers, key: UUID) -> list[WebJobPhase]:
    """What was told of an item, in its order."""
    return [each.phase for each in servers.of_agent.statuses(KIND, WebJobState, key)] if servers.credentials else []


def runs(servers: Servers, key: UUID) -> bool:
    return phases(servers, key)[-1:] == [WebJobPhase.RUNNING]


async def test_an_item_that_cannot_be_read_holds_up_no_other(servers: Servers, agent: AgentProcess) -> None:
    newer = servers.assign(KIND, Newer())
    others = [servers.assign(KIND, sleeper(f"job-{number}")) for number in range(3)]
    await agent.start()
    await eventually(lambda: all(runs(servers, each) for each in others))
    assert phases(servers, newer) == []
    assert "work cannot be read" in agent.log
    servers.assign(KIND, sleeper(), newer)
    await servers.tell_assigned(KIND)
    await eventually(lambda: runs(servers, newer))


async def test_items_go_on_without_the_servers_unless_they_have_secrets(servers: Servers, agent: AgentProcess) -> None:
    plain = servers.assign(KIND, sleeper())
    secret = servers.assign(KIND, sleeper(TOKEN="a secret of the item"), has_secrets=True)
    await agent.start()
    await eventually(lambda: runs(servers, plain) and runs(servers, secret))
    await agent.kill()
    assert files_that_contain(agent.folder, "a secret of the item") == []
    answers, servers.forge = servers.forge, True  # nothing that the servers say is believed now
    await agent.start()
    await eventually(lambda: phases(servers, plain).count(WebJobPhase.RUNNING) == 2)
    assert phases(servers, secret)[-1] is WebJobPhase.STOPPED
    servers.forge = answers
    await eventually(lambda: runs(servers, secret))


async def test_a_removed_item_is_told_gone_and_not_taken_up_again(servers: Servers, agent: AgentProcess) -> None:
    key = servers.assign(KIND, sleeper())
    await agent.start()
    await eventually(lambda: runs(servers, key))
    del servers.assigned[KIND][key]
    await servers.tell_assigned(KIND)
    await eventually(lambda: any(state.removed for state in servers.of_agent.assigned[KIND]))
    told = len(phases(servers, key))
    await agent.stop()
    other = servers.assign(KIND, sleeper("other"))
    await agent.start()
    await eventually(lambda: runs(servers, other))
    assert len(phases(servers, key)) == told
