"""Agents as operators see and change them."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock.areas.agents.roster import Roster
from penstock.protocol.capability import AgentCapability, CapabilityType
from tests.application import Application, running_application
from tests.areas.agent_link import linked_agent, reconnected_agent, register
from tests.areas.known_agents import agent, agent_with, has_status, status_of
from tests.areas.waiting import until


async def test_agents_are_listed_by_status(application: Application, name: str) -> None:
    pending, _ = await register(application, name)
    deprecated, _ = await register(application, name + "-old")
    await application.admin.post(f"/agents/{deprecated}/deprecate")

    async def listed(query: str) -> set[str]:
        answer = await application.reader.get(f"/agents{query}")
        assert answer.status_code == 200, answer.text
        return {each["Id"] for each in answer.json()} & {str(pending), str(deprecated)}

    assert await listed("") == {str(pending), str(deprecated)}
    assert await listed("?Status=3") == {str(pending)}
    assert await listed("?Status=3&Status=4") == {str(pending), str(deprecated)}
    assert await listed("?Status=0") == set()
    assert (await application.reader.get("/agents?Status=5")).status_code == 400
    assert (await application.reader.get("/agents?Status=online")).status_code == 400


async def test_an_operator_changes_names_and_configured_capabilities_and_nothing_else(
    application: Application, name: str
) -> None:
    async with linked_agent(application, name, {"Region": "eu"}) as link:
        read = await until(lambda: agent_with(application, link.id, CurrentStatusEnum=1))
        wanted = {
            **read,
            "ETag": None,
            "Name": name + "-renamed",
            "PoolName": "core",
            "CurrentStatusEnum": 4,
            "LastBuildVersion": "forged",
            "Capabilities": [
                *read["Capabilities"],
                {"Identifier": "Team", "Value": "billing", "CapabilityType": 1},
                {"Identifier": "OS", "Value": "forged", "CapabilityType": 0},
            ],
        }
        changed = (await application.admin.put("/agents", json=wanted)).json()
        assert (changed["Name"], changed["PoolName"]) == (name + "-renamed", "core")
        assert changed["CurrentStatusEnum"] == 1
        assert changed["LastBuildVersion"] is None
        assert _shown(changed) == {("Region", "eu", False), ("Team", "billing", True)}
        assert changed["LastUpdateDate"] > read["LastUpdateDate"]

        link.capabilities = {"Region": "us"}
        await link.ping(build_version="2")
        pinged = await until(lambda: agent_with(application, link.id, LastBuildVersion="2"))
        assert _shown(pinged) == {("Region", "us", False), ("Team", "billing", True)}

        cleared = await application.admin.put("/agents", json={"Id": str(link.id), "Capabilities": []})
        assert _shown(cleared.json()) == {("Region", "us", False)}


async def test_an_update_with_a_stale_e_tag_changes_nothing(application: Application, name: str) -> None:
    id, _ = await register(application, name)
    read = await agent(application, id)
    assert (await application.admin.put("/agents", json={**read, "PoolName": "one"})).status_code == 200
    stale = await application.admin.put("/agents", json={**read, "PoolName": "two"})
    header = await application.admin.put(
        "/agents", json={"Id": str(id), "PoolName": "three"}, headers={"If-Match": '"other"'}
    )
    assert (stale.status_code, header.status_code) == (412, 412)
    assert (await agent(application, id))["PoolName"] == "one"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "Id"),
        ({"Id": "no-guid"}, "Id"),
        ({"Id": str(uuid4()), "Name": ""}, "Name"),
        ({"Id": str(uuid4()), "Nickname": "x"}, "Nickname"),
        ({"Id": str(uuid4()), "CurrentStatusEnum": 9}, "CurrentStatusEnum"),
    ],
)
async def test_a_bad_update_names_the_field(application: Application, body: dict[str, Any], field: str) -> None:
    answer = await application.admin.put("/agents", json=body)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


async def test_a_bad_capability_is_named_by_its_place(application: Application, name: str) -> None:
    id, _ = await register(application, name)
    body = {"Id": str(id), "Capabilities": [{"Identifier": "A", "CapabilityType": 1}, {"CapabilityType": 1}]}
    answer = await application.admin.put("/agents", json=body)
    assert [error["field"] for error in answer.json()["errors"]] == ["Capabilities[1].Identifier"]


async def test_an_unknown_agent_is_not_found(application: Application) -> None:
    id = uuid4()
    answers = [
        await application.reader.get(f"/agents/{id}"),
        await application.reader.get(f"/agents/{id}/history", params={"limit": 1}),
        await application.reader.get(f"/agents/{id}/history/{id}"),
        await application.admin.put("/agents", json={"Id": str(id)}),
        await application.admin.post(f"/agents/{id}/deprecate"),
        await application.admin.put(f"/agents/{id}/status?statusEnum=1"),
    ]
    assert {answer.status_code for answer in answers} == {404}


@pytest.mark.parametrize("value", ["5", "-1", "99999999999", "Online", "", "1.5"])
async def test_a_status_outside_the_enumeration_is_refused(application: Application, name: str, value: str) -> None:
    id, _ = await register(application, name)
    answer = await application.admin.put(f"/agents/{id}/status", params={"statusEnum": value})
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["statusEnum"]
    assert await status_of(application, id) == 3


async def test_a_deprecated_agent_keeps_its_record_and_is_refused(application: Application, name: str) -> None:
    async with linked_agent(application, name) as link:
        await until(lambda: has_status(application, link.id, 1))
        first = await application.admin.post(f"/agents/{link.id}/deprecate")
        again = await application.admin.post(f"/agents/{link.id}/deprecate")
        assert first.json()["CurrentStatusEnum"] == again.json()["CurrentStatusEnum"] == 4
        assert first.json()["ETag"] == again.json()["ETag"]
        await link.ping(build_version="still here")
        await until(lambda: agent_with(application, link.id, LastBuildVersion="still here"))
        assert await status_of(application, link.id) == 4
        async with application.client(Authorization=f"Bearer {link.credential}") as client:
            assert (await client.get("/agent/configuration")).status_code == 403
        await register(application, name)
        taken = await application.admin.put(f"/agents/{link.id}/status?statusEnum=0")
        assert taken.status_code == 409


async def test_an_agent_works_again_when_its_status_is_set(application: Application, name: str) -> None:
    async with linked_agent(application, name) as link:
        await application.admin.post(f"/agents/{link.id}/deprecate")
        await application.admin.put(f"/agents/{link.id}/status?statusEnum=2")
        await link.ping()
        await until(lambda: has_status(application, link.id, 1))


async def test_changes_of_one_agent_at_the_same_time_are_all_kept(application: Application, name: str) -> None:
    id, _ = await register(application, name)
    fields = [{"PoolName": "p"}, {"BaseAddress": "http://b"}, {"Name": name + "-new"}]
    answers = await asyncio.gather(
        *(application.admin.put("/agents", json={"Id": str(id), **field}) for field in fields)
    )
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    found = await agent(application, id)
    assert (found["PoolName"], found["BaseAddress"], found["Name"]) == ("p", "http://b", name + "-new")


async def test_agents_and_credentials_survive_a_restart_of_the_server(tmp_path: Path, name: str) -> None:
    async with running_application(tmp_path) as application:
        id, credential = await register(application, name, {"Region": "eu"})
        before = await agent(application, id)
    async with running_application(tmp_path) as application:
        assert await agent(application, id) == before
        async with reconnected_agent(application, credential, {"Region": "eu"}):
            await until(lambda: has_status(application, id, 1))
        roster = application.platform.container.get(Roster)
        [known] = await roster.agents()
        assert known.capabilities == [
            AgentCapability(identifier="Region", value="eu", capability_type=CapabilityType.CONFIGURED)
        ]


def _shown(agent: dict[str, Any]) -> set[tuple[str, str, bool]]:
    return {(c["Identifier"], c["Value"], c["IsCustom"]) for c in agent["Capabilities"]}
