"""Which agents are there: pings, silence, history."""

import asyncio
import os
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from penstock.kernel.errors import Forbidden
from penstock.protocol import subjects
from tests.application import Application, running_application
from tests.areas.agent_link import AgentLink, linked_agent, register
from tests.areas.known_agents import agent, agent_with, events_of, has_status, status_of
from tests.areas.waiting import until


async def test_a_ping_makes_an_agent_online_and_tells_what_it_is(application: Application, name: str) -> None:
    async with linked_agent(application, name, {"Environment": "prod"}) as link:
        await until(lambda: has_status(application, link.id, 1))
        built = datetime(2025, 3, 1, tzinfo=UTC)
        await link.ping(build_version="1.2.3", build_date=built)
        found = await until(lambda: agent_with(application, link.id, LastBuildVersion="1.2.3"))
        assert datetime.fromisoformat(found["LastBuildDate"]) == built
        assert [(c["Identifier"], c["Value"]) for c in found["Capabilities"]] == [("Environment", "prod")]


async def test_an_agent_that_falls_silent_is_offline_until_it_is_heard_again(
    application: Application, name: str
) -> None:
    async with linked_agent(application, name) as link:
        await until(lambda: has_status(application, link.id, 1))
        await until(lambda: has_status(application, link.id, 2))
        assert "not heard" in (await agent(application, link.id))["CurrentStatusMessage"]
        await link.ping()
        await until(lambda: has_status(application, link.id, 1))
    events = await events_of(application, link.id)
    assert events.count("agents.updated") >= 3
    assert "agents.created" in events


async def test_last_seen_moves_with_each_ping_and_the_e_tag_does_not(application: Application, name: str) -> None:
    async with linked_agent(application, name) as link:
        before = await until(lambda: agent_with(application, link.id, CurrentStatusEnum=1))

        async def seen_later() -> dict[str, Any] | None:
            await link.ping()
            now = await agent(application, link.id)
            return now if now["LastSeen"] > before["LastSeen"] else None

        after = await until(seen_later)
        assert after["ETag"] == before["ETag"]


async def test_a_ping_in_another_agents_name_changes_nothing(application: Application, name: str) -> None:
    victim, _ = await register(application, name)
    async with linked_agent(application, name + "-bad") as link:
        forged = b'{"AgentId":"%s","SystemStatus":"Failed"}' % str(victim).encode()
        await link.bus.notify(subjects.ping(link.id), forged)
        await link.bus.notify(subjects.ping(link.id), b"not json")
        await link.ping(build_version="after")
        await until(lambda: agent_with(application, link.id, LastBuildVersion="after"))
        with pytest.raises(Forbidden):
            await link.bus.publish(subjects.ping(victim), b"{}")
    assert await status_of(application, victim) == 3


async def test_what_a_newer_agent_adds_to_its_ping_is_passed_over(application: Application, name: str) -> None:
    async with linked_agent(application, name) as link:
        body = b'{"AgentId":"%s","SystemStatus":"Running","BuildVersion":"9","Novelty":{"A":1}}'
        await link.bus.notify(subjects.ping(link.id), body % str(link.id).encode())
        found = await until(lambda: agent_with(application, link.id, LastBuildVersion="9"))
        assert found["IntegrationStatus"] == 2


async def test_history_has_each_change_once_and_not_each_ping(application: Application, name: str) -> None:
    async with linked_agent(application, name) as link:
        for version in ("1", "2"):
            for _ in range(5):
                await link.ping(build_version=version)
            await until(lambda version=version: agent_with(application, link.id, LastBuildVersion=version))
        answer = await application.reader.get(f"/agents/{link.id}/history", params={"limit": 1000})
        items = answer.json()
        versions = [item["StatusUpdate"]["BuildVersion"] for item in items]
        assert versions[0] == "2"
        assert {"1", None} <= set(versions)
        assert len(items) <= 5
        one = await application.reader.get(f"/agents/{link.id}/history/{items[0]['Id']}")
        assert one.json() == items[0]
        other, _ = await register(application, name + "-other")
        assert (await application.reader.get(f"/agents/{other}/history/{items[0]['Id']}")).status_code == 404
        limited = await application.reader.get(f"/agents/{link.id}/history", params={"limit": 1})
        assert [item["Id"] for item in limited.json()] == [items[0]["Id"]]


@pytest.mark.parametrize("limit", ["-1", "1001", "many", ""])
async def test_a_history_limit_out_of_bounds_is_refused(application: Application, name: str, limit: str) -> None:
    id, _ = await register(application, name)
    answer = await application.reader.get(f"/agents/{id}/history", params={"limit": limit})
    assert answer.status_code == 400


async def test_agents_are_not_called_offline_when_it_is_the_bus_that_is_silent(tmp_path: Path, name: str) -> None:
    async with (
        running_application(tmp_path) as application,
        linked_agent(application, name) as link,
        asyncio.TaskGroup() as group,
    ):
        await until(lambda: has_status(application, link.id, 1))
        pinging = group.create_task(_keep_pinging(link))
        nats = application.platform.nats
        assert nats is not None
        assert nats.pid is not None
        frozen = nats.pid
        os.kill(frozen, signal.SIGSTOP)
        await asyncio.sleep(3)
        os.kill(frozen, signal.SIGCONT)
        os.kill(frozen, signal.SIGKILL)
        killed = datetime.now(UTC)
        await until(lambda: _seen_after(application, link.id, killed))
        pinging.cancel()
        assert await status_of(application, link.id) == 1
        history = await application.admin.get(
            "/events/store", params={"entityId": str(link.id), "fromDate": "2020-01-01", "toDate": "2100-01-01"}
        )
        assert "not heard for" not in history.text


async def _keep_pinging(link: AgentLink) -> None:
    while True:
        await link.ping()
        await asyncio.sleep(0.1)


async def _seen_after(application: Application, id: object, moment: datetime) -> bool:
    return datetime.fromisoformat((await agent(application, id))["LastSeen"]) > moment
