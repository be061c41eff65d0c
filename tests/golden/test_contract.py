"""Every operation that is built has exactly the published interface's parameters, bodies, statuses and types."""

from typing import Any

import httpx
import pytest

from tests.application import Application
from tests.golden.contract import Contract, ContractOperation, read_contract
from tests.golden.wire_types import type_name

CONTRACT = read_contract()
UNBOUNDED = {"MftStats"}


@pytest.fixture(scope="module")
async def document(application: Application) -> dict[str, Any]:
    answer: httpx.Response = await application.anonymous.get("/openapi.json")
    return answer.json()


def built_operations(application: Application) -> dict[tuple[str, str], bool]:
    """(method, path) -> whether it goes beyond the published interface."""
    declarations = [operation.declaration for operation in application.platform.operations]
    return {(d.method, d.path): d.beyond for d in declarations}


async def test_an_operation_is_either_published_or_declared_to_go_beyond(application: Application) -> None:
    for key, beyond in built_operations(application).items():
        assert beyond == (key not in CONTRACT.operations), key


async def test_parameters_are_those_of_the_published_operation(
    application: Application, document: dict[str, Any]
) -> None:
    for operation in published(application):
        item = document["paths"][operation.path][operation.method.lower()]
        found = {(p["in"], p["name"], type_name(p["schema"]), p["required"]) for p in item["parameters"]}
        assert loosened(found) == loosened(operation.parameters), (operation.method, operation.path)


async def test_bodies_are_of_the_published_type(application: Application, document: dict[str, Any]) -> None:
    for operation in published(application):
        item = document["paths"][operation.path][operation.method.lower()]
        content = item.get("requestBody", {}).get("content", {})
        found = type_name(content["application/json"]["schema"]) if content else None
        assert found == operation.body, (operation.method, operation.path)


async def test_answers_have_the_published_statuses_and_types(
    application: Application, document: dict[str, Any]
) -> None:
    for operation in published(application):
        item = document["paths"][operation.path][operation.method.lower()]
        found = {status: answer_type(answer) for status, answer in item["responses"].items() if status != "default"}
        assert found == operation.responses, (operation.method, operation.path)


async def test_components_have_exactly_the_published_fields(document: dict[str, Any]) -> None:
    components = document["components"]["schemas"]
    known = {name: schema for name, schema in components.items() if name in CONTRACT.types}
    assert known
    for name, schema in known.items():
        required = set(schema.get("required", ()))
        found = {field: (type_name(kind), field in required) for field, kind in schema.get("properties", {}).items()}
        assert found == widened(name, CONTRACT.types[name]), name


async def test_enumerations_have_the_published_values(document: dict[str, Any]) -> None:
    components = document["components"]["schemas"]
    known = [name for name in CONTRACT.enumerations if name in components]
    assert known
    for name in known:
        assert sorted(map(str, components[name]["enum"])) == sorted(CONTRACT.enumerations[name]), name


def published(application: Application) -> list[ContractOperation]:
    built = built_operations(application)
    return [operation for key, operation in CONTRACT.operations.items() if key in built]


def loosened(parameters: Any) -> set[tuple[str, str, str, bool]]:
    # The contract calls an enumeration in a query plain `integer`; a bounded int32 is what is meant.
    # It does not list `{cloud}`, which stands for a word; served paths have it as a parameter.
    enumerations = CONTRACT.enumerations
    return {
        (place, name, "integer" if kind in enumerations else kind, required)
        for place, name, kind, required in parameters
        if (place, name) != ("path", "cloud")
    }


def widened(name: str, fields: dict[str, tuple[str, bool]]) -> dict[str, tuple[str, bool]]:
    # Sizes and counters of transfers pass 2^31 soon, and are told exactly.
    if name not in UNBOUNDED:
        return fields
    return {field: ("int64" if kind == "int32" else kind, needed) for field, (kind, needed) in fields.items()}


def answer_type(answer: dict[str, Any]) -> str:
    content = answer.get("content")
    if not content:
        return "void"
    media, body = next(iter(content.items()))
    return type_name(body["schema"]) if media == "application/json" else "file"


def test_the_contract_file_is_whole() -> None:
    contract: Contract = read_contract()
    assert (len(contract.operations), len(contract.types), len(contract.enumerations)) == (236, 150, 18)
