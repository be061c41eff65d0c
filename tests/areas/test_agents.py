"""Agents over HTTP and the bus: registration, presence, capabilities, history."""

import asyncio
import os
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from penstock.areas.agents.roster import Roster
from penstock.kernel.errors import Forbidden
from penstock.protocol import subjects
from penstock.protocol.capability import AgentCapability, CapabilityType
from penstock.protocol.registration import AgentConfiguration
from tests.application import Application, running_application
from tests.areas.agent_link import AgentLink, linked_agent, reconnected_agent, register
from tests.areas.waiting import until


@pytest.fixture
def name() -> str:
    return f"agent-{uuid4().hex[:12]}"


async def agent(application: Application, id: object) -> dict[str, Any]:
    answer = await application.reader.get(f"/agents/{id}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def status_of(application: Application, id: object) -> int:
    return int((await agent(application, id))["CurrentStatusEnum"])


async def pending_token(application: Application, path: str = "/agents/create") -> str:
    answer = await application.admin.post(path, json="edge")
    assert answer.status_code == 200
    return str(answer.json()["Token"])


async def events_of(application: Application, id: object) -> list[str]:
    query = {"entityId": str(id), "fromDate": "2020-01-01", "toDate": "2100-01-01"}
    answer = await application.admin.get("/events/store", params=query)
    assert answer.status_code == 200, answer.text
    return [item["EventType"] for item in answer.json()]


@pytest.mark.parametrize("path", ["/agent/create", "/agents/create"])
async def test_a_pending_registration_is_for_a_pool_and_lasts_a_day(application: Application, path: str) -> None:
    answer = await application.admin.post(path, json="edge")
    created = answer.json()
    assert created["ServerBaseaddress"] == application.address
    [pending] = [p for p in (await application.reader.get("/agents/pending")).json() if p["Id"] == created["Id"]]
    assert pending["PoolName"] == "edge"
    lasts = datetime.fromisoformat(pending["Expires"]) - datetime.fromisoformat(pending["CreatedDate"])
    assert 86_390 < lasts.total_seconds() < 86_410
    assert created["Token"] not in str(pending)


async def test_a_token_registers_one_agent_once(application: Application, name: str) -> None:
    data = {"Name": name, "Token": await pending_token(application), "InitialBaseAddress": "http://edge:1"}
    first = await application.anonymous.post("/agent/register", json=data)
    second = await application.anonymous.post("/agent/register", json={**data, "Name": name + "-2"})
    assert (first.status_code, second.status_code) == (200, 401)
    assert first.json()["ServerBaseAddress"] == application.address
    registered = await agent(application, first.json()["Id"])
    assert registered["CurrentStatusEnum"] == 3
    assert (registered["Name"], registered["PoolName"]) == (name, "edge")
    assert registered["BaseAddress"] == "http://edge:1"


async def test_of_registrations_with_one_token_at_the_same_time_one_wins(application: Application, name: str) -> None:
    token = await pending_token(application)
    requests = [{"Name": f"{name}-{number}", "Token": token} for number in range(8)]
    answers = await asyncio.gather(*(application.anonymous.post("/agent/register", json=data) for data in requests))
    assert sorted(answer.status_code for answer in answers) == [200] + [401] * 7
    listed = (await application.reader.get("/agents")).json()
    assert len([each for each in listed if each["Name"].startswith(name)]) == 1


async def test_wrong_spent_deleted_and_missing_tokens_are_refused_alike(application: Application, name: str) -> None:
    deleted = (await application.admin.post("/agents/create", json="edge")).json()
    assert (await application.admin.delete(f"/agents/pending/{deleted['Id']}")).status_code == 200
    spent = await pending_token(application)
    assert (await application.anonymous.post("/agent/register", json={"Token": spent})).status_code == 200
    tokens = [deleted["Token"], spent, "par_nonsense", "ü", "", spent[:-1] + "A", None]
    answers = [
        await application.anonymous.post("/agent/register", json={"Name": name, "Token": token}) for token in tokens
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.json()["detail"] for answer in answers}) == 1


async def test_a_taken_name_leaves_the_token_unspent(application: Application, name: str) -> None:
    await register(application, name)
    token = await pending_token(application)
    taken = await application.anonymous.post("/agent/register", json={"Name": name.upper(), "Token": token})
    assert taken.status_code == 409
    unnamed = await application.anonymous.post("/agent/register", json={"Token": token})
    assert unnamed.status_code == 200
    assert unnamed.json()["Name"].startswith("agent-")


@pytest.mark.parametrize("bad", [" ", "x" * 129, "a\nb"])
async def test_a_bad_name_is_refused_and_named(application: Application, bad: str) -> None:
    token = await pending_token(application)
    answer = await application.anonymous.post("/agent/register", json={"Name": bad, "Token": token})
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["Name"]


async def test_deleting_an_unknown_pending_registration_is_not_found(application: Application) -> None:
    assert (await application.admin.delete(f"/agents/pending/{uuid4()}")).status_code == 404


async def test_validation_tells_whether_id_and_token_belong_together(application: Application, name: str) -> None:
    id, token = await register(application, name)
    other, other_token = await register(application, name + "-other")
    body = {"Id": str(id), "RemoteAddress": "10.0.0.7", "ValidationToken": token}

    async def valid(**changed: str) -> bool:
        answer = await application.admin.post("/agent/register/validate", json={**body, **changed})
        assert answer.status_code == 200
        return bool(answer.json())

    assert await valid()
    assert not await valid(ValidationToken=other_token)
    assert not await valid(Id=str(other))
    assert not await valid(Id=str(uuid4()), ValidationToken="")
    assert "agents.validated" in await events_of(application, id)


async def test_an_agent_may_not_validate_another(application: Application, name: str) -> None:
    id, token = await register(application, name)
    other, _ = await register(application, name + "-other")
    async with application.client(Authorization=f"Bearer {token}") as client:
        own = await client.post("/agent/register/validate", json={"Id": str(id), "ValidationToken": token})
        foreign = await client.post("/agent/register/validate", json={"Id": str(other), "ValidationToken": token})
    assert (own.status_code, own.json()) == (200, True)
    assert foreign.status_code == 403


async def test_an_agent_gets_its_configuration_and_nothing_that_people_get(application: Application, name: str) -> None:
    id, token = await register(application, name)
    async with application.client(Authorization=f"Bearer {token}") as client:
        answer = await client.get("/agent/configuration")
        refused = await client.get("/agents")
    configuration = msgspec.json.decode(answer.json(), type=AgentConfiguration)
    assert (configuration.agent_id, configuration.agent_name) == (id, name)
    assert configuration.bus_expires > datetime.now(UTC)
    assert refused.status_code == 403
    assert (await application.admin.get("/agent/configuration")).status_code == 403


async def test_a_forged_credential_is_refused(application: Application, name: str) -> None:
    _, token = await register(application, name)
    for forged in (token[:-2] + "AA", "pag_" + "A" * 64):
        async with application.client(Authorization=f"Bearer {forged}") as client:
            assert (await client.get("/agent/configuration")).status_code == 401


async def test_a_ping_makes_an_agent_online_and_tells_what_it_is(application: Application, name: str) -> None:
    async with linked_agent(application, name, {"Environment": "prod"}) as link:
        await until(lambda: _is(application, link.id, 1))
        built = datetime(2025, 3, 1, tzinfo=UTC)
        await link.ping(build_version="1.2.3", build_date=built)
        found = await until(lambda: _with(application, link.id, LastBuildVersion="1.2.3"))
        assert datetime.fromisoformat(found["LastBuildDate"]) == built
        assert [(c["Identifier"], c["Value"]) for c in found["Capabilities"]] == [("Environment", "prod")]


async def test_an_agent_that_falls_silent_is_offline_until_it_is_heard_again(
    application: Application, name: str
) -> None:
    async with linked_agent(application, name) as link:
        await until(lambda: _is(application, link.id, 1))
        await until(lambda: _is(application, link.id, 2))
        assert "not heard" in (await agent(application, link.id))["CurrentStatusMessage"]
        await link.ping()
        await until(lambda: _is(application, link.id, 1))
    events = await events_of(application, link.id)
    assert events.count("agents.updated") >= 3
    assert "agents.created" in events


async def test_last_seen_moves_with_each_ping_and_the_e_tag_does_not(application: Application, name: str) -> None:
    async with linked_agent(application, name) as link:
        before = await until(lambda: _with(application, link.id, CurrentStatusEnum=1))

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
        await until(lambda: _with(application, link.id, LastBuildVersion="after"))
        with pytest.raises(Forbidden):
            await link.bus.publish(subjects.ping(victim), b"{}")
    assert await status_of(application, victim) == 3


async def test_what_a_newer_agent_adds_to_its_ping_is_passed_over(application: Application, name: str) -> None:
    async with linked_agent(application, name) as link:
        body = b'{"AgentId":"%s","SystemStatus":"Running","BuildVersion":"9","Novelty":{"A":1}}'
        await link.bus.notify(subjects.ping(link.id), body % str(link.id).encode())
        found = await until(lambda: _with(application, link.id, LastBuildVersion="9"))
        assert found["IntegrationStatus"] == 2


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
        read = await until(lambda: _with(application, link.id, CurrentStatusEnum=1))
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
        pinged = await until(lambda: _with(application, link.id, LastBuildVersion="2"))
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
        await until(lambda: _is(application, link.id, 1))
        first = await application.admin.post(f"/agents/{link.id}/deprecate")
        again = await application.admin.post(f"/agents/{link.id}/deprecate")
        assert first.json()["CurrentStatusEnum"] == again.json()["CurrentStatusEnum"] == 4
        assert first.json()["ETag"] == again.json()["ETag"]
        await link.ping(build_version="still here")
        await until(lambda: _with(application, link.id, LastBuildVersion="still here"))
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
        await until(lambda: _is(application, link.id, 1))


async def test_history_has_each_change_once_and_not_each_ping(application: Application, name: str) -> None:
    async with linked_agent(application, name) as link:
        for version in ("1", "2"):
            for _ in range(5):
                await link.ping(build_version=version)
            await until(lambda version=version: _with(application, link.id, LastBuildVersion=version))
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


async def test_changes_of_one_agent_at_the_same_time_are_all_kept(application: Application, name: str) -> None:
    id, _ = await register(application, name)
    fields = [{"PoolName": "p"}, {"BaseAddress": "http://b"}, {"Name": name + "-new"}]
    answers = await asyncio.gather(
        *(application.admin.put("/agents", json={"Id": str(id), **field}) for field in fields)
    )
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    found = await agent(application, id)
    assert (found["PoolName"], found["BaseAddress"], found["Name"]) == ("p", "http://b", name + "-new")


async def test_agents_are_not_called_offline_when_it_is_the_bus_that_is_silent(tmp_path: Path, name: str) -> None:
    async with (
        running_application(tmp_path) as application,
        linked_agent(application, name) as link,
        asyncio.TaskGroup() as group,
    ):
        await until(lambda: _is(application, link.id, 1))
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


async def test_agents_and_credentials_survive_a_restart_of_the_server(tmp_path: Path, name: str) -> None:
    async with running_application(tmp_path) as application:
        id, credential = await register(application, name, {"Region": "eu"})
        before = await agent(application, id)
    async with running_application(tmp_path) as application:
        assert await agent(application, id) == before
        async with reconnected_agent(application, credential, {"Region": "eu"}):
            await until(lambda: _is(application, id, 1))
        roster = application.platform.container.get(Roster)
        [known] = await roster.agents()
        assert known.capabilities == [
            AgentCapability(identifier="Region", value="eu", capability_type=CapabilityType.CONFIGURED)
        ]


async def _keep_pinging(link: AgentLink) -> None:
    while True:
        await link.ping()
        await asyncio.sleep(0.1)


async def _seen_after(application: Application, id: object, moment: datetime) -> bool:
    return datetime.fromisoformat((await agent(application, id))["LastSeen"]) > moment


async def _is(application: Application, id: object, status: int) -> bool:
    return await status_of(application, id) == status


async def _with(application: Application, id: object, **fields: Any) -> dict[str, Any] | None:
    found = await agent(application, id)
    return found if all(found[name] == value for name, value in fields.items()) else None


def _shown(agent: dict[str, Any]) -> set[tuple[str, str, bool]]:
    return {(c["Identifier"], c["Value"], c["IsCustom"]) for c in agent["Capabilities"]}
