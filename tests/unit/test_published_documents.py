"""OpenAPI documents of versions, merged into one."""

from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.areas.apim.catalog.merged import MergedDocument
from penstock.areas.apim.catalog.parts import Malformed, Object
from penstock.areas.apim.catalog.published import PublishedVersion
from penstock.areas.apim.catalog.source_document import SourceDocument
from penstock.areas.apim.stored import StoredVersion
from penstock.areas.apim.upstream_parameters import AddressParameters, UpstreamType
from penstock.protocol.gateway import Access

NOW = datetime(2026, 6, 1, tzinfo=UTC)
LAMP = {"$ref": "#/components/schemas/Lamp"}


def document(paths: Object | None = None, *, openapi: str = "3.1.0", **fields: Any) -> SourceDocument:
    operation = {
        "operationId": "list",
        "tags": ["lamps"],
        "responses": {"200": answer(LAMP)},
        "security": [{"own": []}],
    }
    components = {"schemas": {"Lamp": {"type": "object"}}, "securitySchemes": {"own": {"type": "http"}}}
    whole = {"openapi": openapi, "info": {"title": "Lamps"}, "paths": paths or {"/lamps": {"get": operation}}}
    return SourceDocument({**whole, "components": components, **fields})


def answer(schema: Object) -> Object:
    return {"description": "", "content": {"application/json": {"schema": schema}}}


def version(
    api: str = "lamps", number: str = "v1", access: list[Access] | None = None, deprecated: datetime | None = None
) -> PublishedVersion:
    entity = StoredVersion(name=f"{api}/{number}", api_name=api, version=number, type=UpstreamType.ADDRESS)
    settings = AddressParameters(url="http://up", deprecated=deprecated)
    return PublishedVersion(entity, f"/{api}/{number}", settings, access or [Access.API_KEY], ["https://issuer"])


def merged(*added: tuple[PublishedVersion, SourceDocument], alone: bool = False) -> Object:
    made = MergedDocument(["http://gateway"], NOW, alone=alone)
    for each, source in added:
        made.add(each, source, "/api")
    return made.document("All", "")


def schema_of(found: Object, path: str) -> Any:
    return found["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]


def test_versions_with_the_same_names_stand_beside_each_other() -> None:
    found = merged((version(), document()), (version(number="v2"), document()))
    assert list(found["paths"]) == ["/lamps/v1/lamps", "/lamps/v2/lamps"]
    assert [item["get"]["operationId"] for item in found["paths"].values()] == ["lamps_v1_list", "lamps_v2_list"]
    assert set(found["components"]["schemas"]) == {"lamps_v1_Lamp", "lamps_v2_Lamp"}
    assert schema_of(found, "/lamps/v2/lamps") == {"$ref": "#/components/schemas/lamps_v2_Lamp"}
    assert found["servers"] == [{"url": "http://gateway"}]
    assert found["paths"]["/lamps/v1/lamps"]["get"]["tags"] == ["lamps v1: lamps"]


def test_names_that_become_the_same_are_numbered() -> None:
    found = merged((version("a-b", "c"), document()), (version("a", "b-c"), document()))
    assert set(found["components"]["schemas"]) == {"a_b_c_Lamp", "a_b_c_Lamp_2"}
    assert schema_of(found, "/a/b-c/lamps") == {"$ref": "#/components/schemas/a_b_c_Lamp_2"}


def test_callers_are_told_what_the_gateway_asks_for_and_nothing_of_the_upstream() -> None:
    access = [Access.API_KEY, Access.BASIC, Access.OIDC]
    found = merged((version(access=access), document()), (version("open", access=[Access.NONE]), document()))
    assert found["paths"]["/lamps/v1/lamps"]["get"]["security"] == [{"apikey": []}, {"basic": []}, {"oidc": []}]
    assert found["paths"]["/open/v1/lamps"]["get"]["security"] == [{}]
    schemes = found["components"]["securitySchemes"]
    assert schemes["oidc"]["openIdConnectUrl"] == "https://issuer/.well-known/openid-configuration"
    assert "own" not in schemes


def test_operations_are_deprecated_from_the_time_on_that_the_version_is() -> None:
    past, coming = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)
    found = merged((version(deprecated=past), document()), (version(number="v2", deprecated=coming), document()))
    assert found["paths"]["/lamps/v1/lamps"]["get"]["deprecated"] is True
    assert "deprecated" not in found["paths"]["/lamps/v2/lamps"]["get"]


def test_a_version_alone_keeps_its_names() -> None:
    found = merged((version(), document()), alone=True)
    assert set(found["components"]["schemas"]) == {"Lamp"}
    assert found["paths"]["/lamps/v1/lamps"]["get"]["operationId"] == "list"


def test_what_is_called_like_a_keyword_is_not_taken_for_one() -> None:
    schema = {"type": "object", "properties": {"$ref": {"type": "string"}, "example": LAMP}}
    example = {"$ref": "#/components/schemas/Lamp", "operationId": "list"}
    media = {"schema": schema, "example": example}
    operation = {"operationId": "list", "responses": {"default": {"content": {"application/json": media}}}}
    found = merged((version(), document({"/lamps": {"get": operation}})))
    shown = found["paths"]["/lamps/v1/lamps"]["get"]["responses"]["default"]["content"]["application/json"]
    assert shown["example"] == example
    assert shown["schema"]["properties"]["$ref"] == {"type": "string"}
    assert shown["schema"]["properties"]["example"] == {"$ref": "#/components/schemas/lamps_v1_Lamp"}


def test_discriminators_go_on_to_tell_by_the_names_of_before() -> None:
    schema = {"oneOf": [LAMP], "discriminator": {"propertyName": "kind", "mapping": {"l": "Lamp"}}}
    found = merged((version(), document({"/lamps": {"get": {"responses": {"200": answer(schema)}}}})))
    new = "#/components/schemas/lamps_v1_Lamp"
    assert schema_of(found, "/lamps/v1/lamps")["discriminator"]["mapping"] == {"Lamp": new, "l": new}


def test_links_and_references_to_paths_lead_to_where_these_are_now() -> None:
    links = {"one": {"operationId": "list"}, "two": {"operationRef": "#/paths/~1lamps/get"}}
    operation = {"operationId": "list", "responses": {"200": {"description": "", "links": links}}}
    found = merged((version(), document({"/lamps": {"get": operation}})))
    shown = found["paths"]["/lamps/v1/lamps"]["get"]["responses"]["200"]["links"]
    assert shown["one"] == {"operationId": "lamps_v1_list"}
    assert shown["two"] == {"operationRef": "#/paths/~1lamps~1v1~1lamps/get"}


def test_schemas_of_the_older_form_are_written_in_the_newer_one() -> None:
    old = {"type": "number", "nullable": True, "minimum": 3, "exclusiveMinimum": True, "maximum": 5}
    paths = {"/lamps": {"get": {"responses": {"200": answer(old)}}}}
    found = merged((version(), document(paths, openapi="3.0.3")))
    new = {"type": ["number", "null"], "exclusiveMinimum": 3, "maximum": 5}
    assert schema_of(found, "/lamps/v1/lamps") == new
    assert schema_of(merged((version(), document(paths))), "/lamps/v1/lamps") == old


def test_what_the_documents_server_has_beyond_the_upstream_is_part_of_the_paths() -> None:
    servers = [{"url": "https://up/api/v7/"}]
    assert list(merged((version(), document(servers=servers)))["paths"]) == ["/lamps/v1/v7/lamps"]
    assert list(merged((version(), document(servers=[{"url": "https://up/apis"}])))["paths"]) == ["/lamps/v1/lamps"]


def test_two_operations_of_one_name_get_two() -> None:
    operation = {"operationId": "list", "responses": {}}
    found = merged((version(), document({"/a": {"get": operation}, "/b": {"get": operation}})))
    assert [item["get"]["operationId"] for item in found["paths"].values()] == ["lamps_v1_list", "lamps_v1_list_2"]


def _deep(levels: int) -> Object:
    schema: Object = {"type": "string"}
    for _ in range(levels):
        schema = {"allOf": [schema]}
    return schema


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"openapi": "2.0"}, "must be an OpenAPI document"),
        ({"paths": [1]}, "paths must be an object"),
        ({"paths": {"lamps": {}}}, "must begin with a slash"),
        ({"paths": {"/lamps": {"get": "all"}}}, r"paths./lamps.get must be an object"),
        ({"paths": {"/lamps": {"get": {"parameters": {}}}}}, "parameters must be a list"),
        ({"paths": {"/lamps": {"$ref": "#/components/pathItems/None"}}}, "which it does not have"),
        ({"paths": {"/lamps": {"$ref": "other.json"}}}, "outside of it"),
        ({"components": {"schemas": {"Lamp": 5}}}, "Lamp must be an object"),
        ({"components": {"schemas": {"Lamp": _deep(200)}}}, "too deep"),
    ],
)
def test_a_malformed_one_is_refused_and_leaves_the_others_as_they_were(fields: Object, reason: str) -> None:
    made = MergedDocument([], NOW)
    made.add(version(), document())
    before = made.document("All", "")
    with pytest.raises(Malformed, match=reason):
        made.add(version(number="v2"), document(**fields))
    assert made.document("All", "") == before


@pytest.mark.parametrize("text", ["{", "[1]", "[" * 100_000, "null", b"\xff", '{"openapi": 3}'])
def test_what_is_no_document_is_told(text: str | bytes) -> None:
    with pytest.raises(Malformed):
        SourceDocument.read(text)
