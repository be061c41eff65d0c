"""Endpoints over HTTP: saved, checked, listed; what agents are told of them."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from tests.application import Application
from tests.areas.agent_link import linked_agent
from tests.areas.events import errors_of
from tests.areas.hosting import Entity, endpoint_body, make_endpoint, register, running_shop
from tests.areas.resource_suite import Audited, Changeable


@pytest.fixture(scope="module")
async def application(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """One that has the API `fickle`."""
    async with running_shop(tmp_path_factory.mktemp("endpoints")) as running:
        await register(running, "acme-fickle")
        yield running


@pytest.fixture
def name() -> str:
    return f"e{uuid4().hex[:10]}"


class TestEndpoints(Audited, Changeable):
    path = "/integrations/endpoint"

    async def make(self, application: Application, name: str) -> Entity:
        return await make_endpoint(application, name, "fickle", {"colour": "red"}, "nowhere")

    def altered(self, entity: Entity) -> Entity:
        return entity | {"Description": "another one", "Route": entity["Route"] + "/v2"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"Name": "a b"}, "Name"),
        ({"ApiName": "nothing"}, "ApiName"),
        ({"ApiName": None}, "ApiName"),
        ({"ApiVersion": "9"}, "ApiVersion"),
        ({"Route": "no-slash"}, "Route"),
        ({"Route": "/a/../b"}, "Route"),
        ({"Route": "/a?b"}, "Route"),
        ({"JsonConfiguration": "[]"}, "JsonConfiguration"),
        ({"JsonConfiguration": "{"}, "JsonConfiguration"),
        ({"JsonConfiguration": "{}"}, "JsonConfiguration.colour"),
        ({"JsonConfiguration": '{"colour": "red", "size": 1}'}, "JsonConfiguration.size"),
        ({"JsonConfiguration": '{"colour": "re"}'}, "JsonConfiguration.colour"),
        (
            {"JsonConfiguration": '{"colour": "red", "lamps": [{"watts": "x"}]}'},
            "JsonConfiguration.lamps[0].watts",
        ),
        ({"JsonConfiguration": '{"colour": "red", "token": "******"}'}, "JsonConfiguration.token"),
        ({"Requirements": [{"Value": "x"}]}, "Requirements[0].Identifier"),
    ],
)
async def test_a_wrong_field_is_named(application: Application, name: str, fields: Entity, field: str) -> None:
    body = endpoint_body(name, "fickle", {"colour": "red"}) | fields
    answer = await application.operator.post("/integrations/endpoint", json=body)
    assert (answer.status_code, set(errors_of(answer))) == (400, {field})
    listed = (await application.reader.get("/integrations/endpoint")).json()
    assert name not in {each["Name"] for each in listed}


async def test_names_and_routes_are_taken_once(application: Application, name: str) -> None:
    made = await make_endpoint(application, name, "fickle", {"colour": "red"}, "nowhere")
    for fields in ({"Name": name.upper(), "Route": f"/other-{name}"}, {"Name": f"o{name}", "Route": made["Route"]}):
        body = endpoint_body(name, "fickle", {"colour": "red"}) | fields
        answer = await application.operator.post("/integrations/endpoint", json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "name-taken")


async def test_a_secret_is_sealed_and_a_mask_keeps_it(application: Application, name: str) -> None:
    async with linked_agent(application, f"agent-{name}", {"Host": name}) as link:
        made = await make_endpoint(application, name, "fickle", {"colour": "red", "token": "hush-hush"}, name)
        assert msgspec.json.decode(made["JsonConfiguration"]) == {"colour": "red", "token": "******"}
        changed = made | {"Description": "still the same", "ETag": None}
        answer = await application.operator.put("/integrations/endpoint", json=changed)
        assert answer.status_code == 200, answer.text
        credential = {"Authorization": f"Bearer {link.credential}"}
        told = await application.anonymous.get("/agent/endpoints", params={"agentId": str(link.id)}, headers=credential)
        [one] = told.json()
        assert msgspec.json.decode(one["Configuration"])["token"] == "hush-hush"
        path = f"/agent/{link.id}/endpoints"
        assert (await application.anonymous.get(f"{path}/{made['Id']}", headers=credential)).json() == one
        events = (
            await application.reader.get(
                "/events/store",
                params={"entityId": made["Id"], "fromDate": "2020-01-01T00:00:00Z", "toDate": "2100-01-01T00:00:00Z"},
            )
        ).text
        assert "hush-hush" not in events
        assert "hush-hush" not in (await application.reader.get("/integrations/endpoint/configuration")).text


async def test_an_agent_is_told_of_its_own_endpoints_only(application: Application, name: str) -> None:
    async with linked_agent(application, f"agent-{name}", {"Host": name}) as link:
        other = await make_endpoint(application, name, "fickle", {"colour": "red"}, "nowhere")
        credential = {"Authorization": f"Bearer {link.credential}"}
        path = f"/agent/{link.id}/endpoints"
        elsewhere = await application.anonymous.get(f"{path}/{other['Id']}", headers=credential)
        assert (elsewhere.status_code, elsewhere.content) == (204, b"")
        assert (await application.anonymous.get(f"{path}/{uuid4()}", headers=credential)).status_code == 404
        assert (
            await application.anonymous.get(f"/agent/{uuid4()}/endpoints/{other['Id']}", headers=credential)
        ).status_code == 403
        assert (await application.reader.get(f"/agent/endpoint/{link.id}")).json() == []
        on_agent = await application.reader.get(f"/agent/endpoint/{other['Id']}/agent/{link.id}")
        assert on_agent.status_code == 404
        assert (await application.reader.get(f"/agent/endpoint/{uuid4()}")).status_code == 404


async def test_one_that_no_agent_matches_has_no_standing_and_that_is_told(application: Application, name: str) -> None:
    made = await make_endpoint(application, name, "fickle", {"colour": "red"}, "nowhere")
    path = f"/agent/endpoint/{made['Id']}"
    assert (await application.reader.get(f"{path}/agents/currentStatus")).json() == []
    assert (await application.reader.get(f"{path}/statusUpdates")).json() == []
    assert (await application.reader.get(f"/agents/integrations/schemas/{made['Id']}")).json() == []
    for address in (
        f"/schema/endpoint/schema/{made['Id']}?externalHostName=true",
        f"/schema/endpoint/schema/{made['Id']}/download",
        f"/schema/endpoint/operations/{made['Id']}",
        f"/schema/endpoint/operations/{made['Id']}/details?operationId=x",
        f"/agents/integrations/schemas/generate?endpointName={name}",
    ):
        answer = await application.reader.get(address)
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found"), address


async def test_documents_save_endpoints_and_come_back_as_they_were(application: Application, name: str) -> None:
    document: dict[str, Any] = {
        "apiVersion": "penstock/v1alpha1",
        "kind": "IntegrationEndpoint",
        "metadata": {"name": name, "description": "by document"},
        "spec": {
            "api": "fickle",
            "route": f"/{name}",
            "configuration": {"colour": "red", "token": "hush"},
            "requirements": {"Host": "nowhere"},
        },
    }
    assert (await application.apply(document)).status_code == 202
    text = (await application.reader.get("/integrations/endpoint/configuration")).json()
    before = await _one(application, name)
    assert (await application.admin.put("/configuration", json=text)).status_code == 202
    assert await _one(application, name) == before
    document["spec"]["configuration"] = {"colour": 3}
    answer = await application.apply(document)
    assert (answer.status_code, list(errors_of(answer))) == (400, ["documents[0].spec.configuration.colour"])
    document["metadata"]["state"] = "absent"
    assert (await application.apply(document)).status_code == 202
    assert await _one(application, name) is None


async def _one(application: Application, name: str) -> Entity | None:
    listed = (await application.reader.get("/integrations/endpoint")).json()
    return next((each for each in listed if each["Name"] == name), None)
