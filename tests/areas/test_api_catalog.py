"""OpenAPI documents of what is published, as the application answers them."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.application import Application
from tests.http_sink import HttpSink, http_sink

DOCUMENT = {
    "openapi": "3.0.3",
    "paths": {"/lamps": {"get": {"operationId": "list", "responses": {"200": {"description": "All"}}}}},
}


@pytest.fixture
async def upstream() -> AsyncIterator[HttpSink]:
    async with http_sink() as sink:
        yield sink


async def publish(application: Application, name: str, version: str, type: str, **parameters: Any) -> None:
    """A version of the API of this name, for everybody."""
    api = {"apiVersion": "penstock/v1alpha1", "kind": "Api", "metadata": {"name": name}, "spec": {}}
    spec = {"type": type, "parameters": parameters, "authentication": {"type": "none"}}
    made = {**api, "kind": "ApiVersion", "metadata": {"name": f"{name}/{version}"}, "spec": spec}
    answer = await application.apply(api, made)
    assert answer.status_code == 202, answer.text


async def whole(application: Application, name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The paths of the API, and why versions of it are left out."""
    answer = await application.reader.get("/apim/openapi")
    assert answer.status_code == 200, answer.text
    found = answer.json()
    paths = {path: item for path, item in found["paths"].items() if path.startswith(f"/{name}/")}
    left_out = {each["version"]: each["reason"] for each in found.get("x-left-out", ()) if each["api"] == name}
    return paths, left_out


async def test_what_cannot_be_shown_leaves_the_rest(application: Application, name: str) -> None:
    await publish(application, name, "v1", "address", url="http://127.0.0.1:1", openApi=DOCUMENT)
    await publish(
        application, name, "v2", "address", url="http://127.0.0.1:1", openApi={"openapi": "3.1.0", "paths": 5}
    )
    await publish(application, name, "v3", "address", url="http://127.0.0.1:1")
    paths, left_out = await whole(application, name)
    assert list(paths) == [f"/{name}/v1/lamps"]
    assert left_out["v2"] == "paths must be an object"
    assert "Parameters.OpenApi" in left_out["v3"]
    own = await application.reader.get(f"/apim/apiversions/{name}/v1/openapi")
    assert own.json()["paths"][f"/{name}/v1/lamps"]["get"]["operationId"] == "list"
    refused = await application.reader.get(f"/apim/apiversions/{name}/v2/openapi")
    assert (refused.status_code, "paths must be an object" in refused.text) == (404, True)
    assert (await application.anonymous.get("/apim/openapi")).status_code == 401


async def test_documents_are_fetched_from_addresses(application: Application, name: str, upstream: HttpSink) -> None:
    address = f"http://127.0.0.1:{upstream.port}/openapi.json"
    await publish(application, name, "v1", "address", url="http://127.0.0.1:1", openApi=address)
    _, left_out = await whole(application, name)
    assert "its document cannot be had" in left_out["v1"]
    await publish(application, name, "v1", "address", url="http://127.0.0.1:1", openApi="http://127.0.0.1:1/none")
    _, left_out = await whole(application, name)
    assert "cannot be reached" in left_out["v1"]
    own = f"{application.address}/openapi.json"
    await publish(application, name, "v1", "address", url=application.address, openApi=own)
    paths, left_out = await whole(application, name)
    assert f"/{name}/v1/apim/apis" in paths
    assert left_out == {}


async def test_a_trigger_is_described_by_what_it_runs(application: Application, name: str) -> None:
    code = "# parameters\nnumber: int\nnote: str = ''\n\nnumber * 2"
    action = await application.operator.post("/automation/action", json={"Name": name, "Content": code})
    trigger = {"ActionId": action.json()["Id"], "Route": name, "TriggerType": "open"}
    assert (await application.operator.post("/automation/triggers/web", json=trigger)).status_code == 200
    await publish(application, name, "v1", "trigger", trigger=name)
    answer = await application.reader.get(f"/apim/apiversions/{name}/v1/openapi")
    found = answer.json()["paths"][f"/{name}/v1"]
    assert {each["name"]: each["required"] for each in found["get"]["parameters"]} == {"number": True, "note": False}
    body = found["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert (body["required"], body["properties"]["number"]) == (["number"], {"type": "integer"})


@pytest.mark.parametrize("given", ["lamps.json", "ftp://lamps", "http://user:secret@lamps"])
async def test_an_address_of_a_document_must_be_one(application: Application, name: str, given: str) -> None:
    assert (await application.operator.post("/apim/apis", json={"Name": name})).status_code == 201
    version = {"ApiName": name, "Version": "v1", "Type": "address"}
    body = {**version, "Parameters": {"Url": "http://127.0.0.1:1", "OpenApi": given}}
    answer = await application.operator.post("/apim/apiversions", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "Parameters.OpenApi")
