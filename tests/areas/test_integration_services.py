"""Integration services and the registry of connectors over HTTP."""

import json
from typing import Any

import httpx
import pytest

from tests.application import Application
from tests.areas.events import errors_of
from tests.areas.resource_suite import Entity, Readable, Removable, configured, unconfigured

PATH = "/integrations/services"
SPECIFICATION = """\
# Says hello
- from:
    uri: timer:{{ name }}
    parameters:
      period: "{{period}}"
    steps:
      - log: "to {{who}}"
"""
PROPERTIES: list[Entity] = [
    {"Name": "name", "IsRequired": True, "Title": "Name of the timer"},
    {"Name": "period", "Type": "integer", "Default": "1000"},
    {"Name": "who", "Type": "secret"},
]


def service(name: str, **fields: Any) -> Entity:
    return {"Name": name, "Category": "demo", "Specification": SPECIFICATION, "Properties": PROPERTIES, **fields}


async def make(application: Application, name: str, **fields: Any) -> Entity:
    answer = await application.operator.post(PATH, json=service(name, **fields))
    assert answer.status_code == 200, answer.text
    found: Entity = answer.json()
    return found


async def get(application: Application, name: str) -> Entity:
    answer = await application.reader.get(f"{PATH}/{name}")
    assert answer.status_code == 200, answer.text
    found: Entity = answer.json()
    return found


class TestServices(Readable, Removable):
    path = PATH
    key = "Name"

    async def make(self, application: Application, name: str) -> Entity:
        await make(application, name)
        return await get(application, name)

    async def remove(self, application: Application, entity: Entity) -> httpx.Response:
        return await application.operator.delete(PATH, params={"serviceName": entity["Name"]})


async def test_each_change_is_a_version_and_no_change_is_none(application: Application, name: str) -> None:
    made = await make(application, name)
    assert (await application.operator.post(PATH, json=service(name.upper()))).status_code == 409
    for changed, version in ((service(name), 1), (service(name, Title="Hello"), 2), (service(name), 3)):
        assert (await application.operator.put(PATH, json=changed)).status_code == 200
        assert (await get(application, name))["Version"] == version
    assert made.keys() == service(name, Title=None, Description=None, Variables=None).keys()
    stale = await application.operator.put(PATH, json=service(name, Title="x"), headers={"If-Match": '"stale"'})
    assert stale.status_code == 412
    assert (await application.reader.put(PATH, json=service(name))).status_code == 403


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"Name": "no name", "Specification": " "}, {"Name", "Specification"}),
        ({"Properties": [{"Name": "name"}]}, {"Specification"}),
        ({"Properties": [*PROPERTIES, {"Name": "NAME"}]}, {"Properties[3].Name"}),
        ({"Properties": [*PROPERTIES, {"Name": "x", "Type": "colour"}]}, {"Properties[3].Type"}),
        ({"Properties": [*PROPERTIES, {"Name": "x", "Type": "boolean", "Default": "si"}]}, {"Properties[3].Default"}),
        ({"Variables": {"period": 1}}, {"Variables.name"}),
        ({"Variables": {"name": "a", "period": "often"}}, {"Variables.period"}),
        ({"Variables": {"name": "a", "who": "in the clear"}}, {"Variables.who"}),
        ({"Variables": {"name": ["a"], "colour": "red"}}, {"Variables.name", "Variables.colour"}),
        ({"Specification": "- from: {uri: 'timer:{{name}}', steps: [{lgo: x}]}"}, {"Specification"}),
        ({"Specification": "- from: ["}, {"Specification"}),
        ({"Colour": "red"}, {"Colour"}),
    ],
)
async def test_whatever_is_wrong_is_named_and_nothing_is_saved(
    application: Application, name: str, fields: dict[str, Any], wrong: set[str]
) -> None:
    answer = await application.operator.put(PATH, json=service(name, **fields))
    assert (answer.status_code, set(errors_of(answer))) == (400, wrong)
    assert (await application.reader.get(f"{PATH}/{name}")).status_code == 404


async def test_variables_are_set_one_by_one_and_checked_together(application: Application, name: str) -> None:
    await make(application, name)

    async def put(variables: Any) -> httpx.Response:
        text = variables if isinstance(variables, str) else json.dumps(variables)
        return await application.operator.post(f"{PATH}/{name}/variables", json=text)

    assert set(errors_of(await put({"period": 5}))) == {"Variables.name"}
    assert (await put({"name": "tick", "period": 5})).json()["Variables"] == {"name": "tick", "period": 5}
    assert (await put({"period": None, "who": "{{var:WHO}}"})).json()["Variables"] == {
        "name": "tick",
        "who": "{{var:WHO}}",
    }
    assert set(errors_of(await put({"colour": "red"}))) == {"Variables.colour"}
    for text in ("[1]", "no json", "5"):
        assert errors_of(await put(text))
    assert (await get(application, name))["Version"] == 3
    unknown = await application.operator.post(f"{PATH}/{name}x/variables", json="{}")
    assert unknown.status_code == 404


async def test_a_flow_is_generated_whose_variables_are_the_values(application: Application, name: str) -> None:
    await make(application, name, Variables={"name": "tick"})
    tricky = 'a"\n- from: {uri: "timer:evil"}'

    async def generate(**fields: Any) -> httpx.Response:
        body = {"Name": f"{name}-flow", **fields}
        return await application.operator.post(f"{PATH}/{name}/flows", json=body)

    made = (await generate(Variables={"name": tricky, "who": "{{var:WHO}}"})).json()
    assert made["Version"] == "1"
    assert made["Variables"] == {"name": tricky, "period": "1000", "who": "{{var:WHO}}"}
    assert made["FlowSpec"] == SPECIFICATION.replace("{{ name }}", "{{var:name}}").replace(
        "{{period}}", "{{var:period}}"
    ).replace("{{who}}", "{{var:who}}")
    flow = (await application.reader.get(f"/integrations/flows/{name}-flow")).json()
    assert (flow["RequestedStatus"], flow["Labels"], flow["Category"]) == (0, [f"service:{name}"], "demo")
    assert flow["Properties"] == made["Variables"]
    again = await generate(Variables={"period": 10}, Labels=["mine"])
    assert (again.json()["Version"], again.json()["Variables"]["name"]) == ("2", "tick")
    assert set(errors_of(await generate(Name="no name", Variables={"period": "x"}))) == {"Name", "Variables.period"}
    assert (await generate(Name=None)).status_code == 400
    await application.operator.delete(PATH, params={"serviceName": name})
    assert (await generate()).status_code == 404
    assert (await application.reader.get(f"/integrations/flows/{name}-flow")).status_code == 200


async def test_a_document_makes_the_same_as_the_operation(application: Application, name: str) -> None:
    properties = [{key[0].lower() + key[1:]: value for key, value in each.items()} for each in PROPERTIES]
    spec = {"specification": SPECIFICATION, "category": "demo", "properties": properties}
    made = await configured(application, "IntegrationService", name, spec, PATH)
    assert made["Version"] == 1
    kept = await configured(application, "IntegrationService", name, spec, PATH)
    assert kept == made
    document = {"apiVersion": "penstock/v1alpha1", "kind": "IntegrationService", "metadata": {"name": name}}
    refused = await application.apply(document | {"spec": spec | {"variables": {"name": "a", "period": "x"}}})
    assert set(errors_of(refused)) == {"documents[0].spec.variables.period"}
    assert (await unconfigured(application, "IntegrationService", name)).status_code == 202
    assert (await unconfigured(application, "IntegrationService", name)).status_code == 404


async def test_connectors_are_listed_as_documents_registered_them(application: Application, name: str) -> None:
    async def listed() -> Entity | None:
        found = (await application.reader.get("/integrations/connectors/openapi")).json()
        return next((each["Spec"] for each in found if each["Spec"]["Name"] == name), None)

    document: dict[str, Any] = {
        "apiVersion": "penstock/v1alpha1",
        "kind": "OpenApiConnector",
        "metadata": {"name": name, "description": "An API"},
        "spec": {"package": "acme-api", "version": "1.0", "labels": ["crm"]},
    }
    assert (await application.apply(document)).status_code == 202
    assert await listed() == {
        "Name": name,
        "Description": "An API",
        "Package": "acme-api",
        "Version": "1.0",
        "Labels": ["crm"],
    }
    wrong = await application.apply(document | {"spec": {"package": "-x", "labels": [1]}})
    assert wrong.status_code == 400
    assert (await unconfigured(application, "OpenApiConnector", name)).status_code == 202
    assert await listed() is None
