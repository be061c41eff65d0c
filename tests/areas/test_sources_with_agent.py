"""Event sources with a real agent and real servers: whatever is killed, each finding is one event in the channel."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from tests.application import Application, running_application
from tests.areas.agent_program import agent_program, pending_token
from tests.areas.events import make_channel, messages_of, subscribe
from tests.areas.faults import kill_bus
from tests.areas.waiting import until
from tests.wheel import connector_wheel

ROUNDS = 4
FILES = 50


async def make(application: Application, name: str, kind: str, **configuration: Any) -> str:
    body = {
        "Name": name,
        "EventSourceType": kind,
        "JsonConfiguration": msgspec.json.encode(configuration).decode(),
        "PollingFrequency": "00:00:01",
    }
    answer = await application.operator.post("/eventing/instances", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["Id"])


async def started(application: Application, id: str) -> bool:
    found = (await application.reader.get(f"/eventing/instances/{id}/status")).json()
    return [each["Status"]["Status"] for each in found] == ["Started"]


async def told(application: Application, channel: str) -> Counter[str]:
    """The files that the channel's events told of, and how often."""
    events = [msgspec.json.decode(message.data) for message in await messages_of(application, channel)]
    return Counter(event["subject"] for event in events)


async def test_each_file_is_one_event_whatever_is_killed(tmp_path: Path) -> None:
    files, wheels = tmp_path / "files", tmp_path / "wheels"
    files.mkdir()
    connector_wheel(wheels)
    packages = {"PACKAGE_INDEX": "none", "PACKAGE_FOLDER": str(wheels)}
    settings = {f"PENSTOCK_{name}": value for name, value in packages.items()}
    async with running_application(tmp_path / "server", **settings) as application:
        token = await pending_token(application)
        channel = await make_channel(application)
        await subscribe(application, channel, Source="/eventsources/files")
        id = await make(application, "files", "file-watch", folder=str(files), settleSeconds=0)
        for part in range(ROUNDS):
            async with agent_program(application, tmp_path / "agent", token, "watcher", **packages) as agent:
                await until(lambda: started(application, id))
                for number in range(FILES):
                    (files / f"{part}-{number}").touch()
                if part == 1:
                    await kill_bus(application)
                await asyncio.sleep(0.4 * part)
                agent.kill()
                await agent.wait()
        async with agent_program(application, tmp_path / "agent", token, "watcher", **packages):

            async def all_told() -> bool:
                return len(await told(application, channel)) == ROUNDS * FILES

            await until(all_told)
            await packaged_kind_runs(application)
        assert set((await told(application, channel)).values()) == {1}


async def packaged_kind_runs(application: Application) -> None:
    """A kind from a catalog: installed by the agent that runs it, its events published."""
    catalog = {"CatalogName": "acme-connectors", "CatalogVersion": "1.0.0"}
    made = (await application.admin.post("/eventing/sourceCatalog", json=catalog)).json()

    async def ready() -> bool:
        return bool((await application.reader.get(f"/eventing/sourceCatalog/{made['Id']}")).json()["Status"] == 1)

    await until(ready)
    channel = await make_channel(application)
    await subscribe(application, channel, EventType="acme.count")
    await make(application, "counting", "acme-count", step=5)

    async def counted() -> list[Any]:
        return [
            msgspec.json.decode(message.data)["data"]["Count"] for message in await messages_of(application, channel)
        ]

    assert (await until(counted))[0] == 5
