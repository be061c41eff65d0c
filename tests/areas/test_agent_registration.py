"""How agents become known, and what their credentials are good for."""

import asyncio
from datetime import UTC, datetime
from uuid import uuid4

import msgspec
import pytest

from penstock.protocol.registration import AgentConfiguration
from tests.application import Application
from tests.areas.agent_link import register
from tests.areas.known_agents import agent, events_of


async def pending_token(application: Application, path: str = "/agents/create") -> str:
    answer = await application.admin.post(path, json="edge")
    assert answer.status_code == 200
    return str(answer.json()["Token"])


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
