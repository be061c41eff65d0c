"""Operations read from OpenAPI documents, right ones and wrong ones."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from penstock.areas.endpoints.openapi import OpenApiDocument
from penstock.areas.endpoints.openapi_model import OpenApiOperation, OpenApiOperationParameterKind

LAMPS: dict[str, Any] = {
    "openapi": "3.1.0",
    "servers": [{"url": "/old"}],
    "paths": {
        "/lamps/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "get": {
                "operationId": "getLamp",
                "summary": "Get a lamp",
                "tags": ["lamps"],
                "parameters": [
                    {"name": "unit", "in": "query", "schema": {"type": "string", "enum": ["W", "kW"]}},
                    {"name": "If-Match", "in": "header", "schema": {"type": ["string", "null"]}},
                ],
                "responses": {
                    "200": {
                        "description": "The lamp",
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Lamp"}}},
                    },
                    "default": {"$ref": "#/components/responses/Problem"},
                },
            },
            "put": {
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Lamp"}}}},
                "responses": {"204": {"description": "Changed"}},
            },
        }
    },
    "components": {
        "parameters": {
            "Id": {"name": "id", "in": "path", "required": True, "schema": {"type": "integer", "format": "int64"}}
        },
        "responses": {"Problem": {"description": "Failed"}},
        "schemas": {
            "Lamp": {
                "type": "object",
                "properties": {
                    "watts": {"type": "number", "description": "Its power."},
                    "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}},
                    "next": {"$ref": "#/components/schemas/Lamp"},
                },
            },
            "Part": {"allOf": [{"$ref": "#/components/schemas/Named"}, {"properties": {"size": {"type": "integer"}}}]},
            "Named": {"type": "object", "properties": {"name": {"type": "string"}}},
        },
    },
}


def operations(document: dict[str, Any]) -> list[OpenApiOperation]:
    return OpenApiDocument(msgspec.json.encode(document).decode()).operations("/mine")


def test_an_operation_has_its_own_parameters_and_those_of_its_path() -> None:
    get = operations(LAMPS)[0]
    assert (get.operation_id, get.url, get.summary, get.tags) == (
        "getLamp",
        "/mine/lamps/{id}",
        "Get a lamp",
        ["lamps"],
    )
    found = [(each.name, each.type, each.required, each.kind, each.options) for each in get.parameters or []]
    assert found == [
        ("id", "integer (int64)", True, OpenApiOperationParameterKind.PATH, None),
        ("unit", "string", False, OpenApiOperationParameterKind.QUERY, ["W", "kW"]),
        ("If-Match", "string", False, OpenApiOperationParameterKind.HEADER, None),
    ]


def test_fields_are_listed_through_references_and_a_circle_ends() -> None:
    ok, other = operations(LAMPS)[0].responses or []
    assert (ok.h_t_t_p_response_code, ok.h_t_t_p_response_message) == (200, "OK")
    assert (other.h_t_t_p_response_code, other.description, other.fields) == (0, "Failed", [])
    names = {each.name: (each.type, each.description) for each in ok.fields or []}
    assert names["watts"] == ("number", "Its power.")
    assert names["parts"][0] == "array of object"
    assert {"parts[].name", "parts[].size", "next"} <= names.keys()
    assert "next.next" not in names


def test_an_operation_without_an_id_is_called_by_method_and_path() -> None:
    put = operations(LAMPS)[1]
    assert put.operation_id == "put /mine/lamps/{id}"
    assert [each.request_content_type for each in put.requests or []] == ["application/json"]
    assert put.method is not None
    assert (put.method.method, put.method.must_have_request_body, put.method.get) == ("PUT", True, None)
    assert put.method.http3_encoded_bytes == bytes([0xD5])


def test_references_in_a_circle_and_to_elsewhere_lead_nowhere() -> None:
    circle = {"$ref": "#/components/schemas/A"}
    document = {
        "paths": {
            "/a": {
                "post": {
                    "requestBody": {"content": {"x/y": {"schema": circle}}},
                    "parameters": [{"$ref": "elsewhere.json#/x"}, "nonsense"],
                }
            },
            "/b": {"$ref": "#/paths/~1a"},
        },
        "components": {"schemas": {"A": {"$ref": "#/components/schemas/B"}, "B": circle}},
    }
    first, second = operations(document)
    assert (first.requests or [])[0].fields == []
    assert second.url == "/mine/b"


def test_servers_are_replaced_and_the_rest_is_kept() -> None:
    text = OpenApiDocument(msgspec.json.encode(LAMPS).decode()).with_servers(["http://a/mine"])
    assert msgspec.json.decode(text) == LAMPS | {"servers": [{"url": "http://a/mine"}]}


_words = st.sampled_from(["paths", "/a", "get", "$ref", "#/paths", "schema", "properties", "items", "allOf", "content"])
_nonsense = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | _words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_words | st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(_nonsense, _nonsense, _nonsense)
def test_nonsense_is_left_out(operation: Any, schema: Any, shared: Any) -> None:
    document = {
        "paths": {
            "/a": {"get": operation, "post": {"parameters": shared, "responses": operation}, "parameters": shared}
        },
        "components": {"schemas": {"A": schema}},
    }
    for found in [*operations(document), *operations({"paths": shared}), *operations({"paths": {"/b": schema}})]:
        assert found.url is not None
