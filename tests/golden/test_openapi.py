"""The OpenAPI document and the route list, compared with the files kept here."""

import json
from pathlib import Path

import jsonschema
from httpx import Response

from tests.application import Application
from tests.golden.kept import assert_kept

FOLDER = Path(__file__).parent


async def test_the_openapi_document_is_the_one_kept(application: Application) -> None:
    document = (await application.anonymous.get("/openapi.json")).json()
    assert_kept(FOLDER / "openapi.json", json.dumps(document, indent=1, sort_keys=True) + "\n")


async def test_the_route_list_is_the_one_kept(application: Application) -> None:
    lines = [
        f"{d.method:7}{d.path}  {','.join(d.roles) or 'open'}{'  beyond' if d.beyond else ''}"
        for d in (operation.declaration for operation in application.platform.operations)
    ]
    assert_kept(FOLDER / "routes.txt", "\n".join(sorted(lines, key=lambda line: line[7:])) + "\n")


async def test_every_reference_in_the_document_is_defined(application: Application) -> None:
    answer: Response = await application.anonymous.get("/openapi.json")
    document = answer.json()
    references = {part.split('"')[0] for part in answer.text.split('"#/components/schemas/')[1:]}
    assert references <= set(document["components"]["schemas"])
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


async def test_no_two_operations_have_the_same_id(application: Application) -> None:
    ids = [operation.id for operation in application.platform.operations]
    assert sorted(ids) == sorted(set(ids))


async def test_every_operation_is_documented(application: Application) -> None:
    for operation in application.platform.operations:
        assert len(operation.docs.split("\n")[0]) > 8, f"{operation.declaration.path} needs a docstring"


async def test_the_documentation_page_loads_nothing_from_elsewhere(application: Application) -> None:
    page = await application.anonymous.get("/docs")
    assert page.status_code == 200
    assert "//" not in page.text.replace("<!DOCTYPE html>", "")
    for asset in ("swagger-ui.css", "swagger-ui-bundle.js", "page.js", "favicon-32x32.png"):
        assert (await application.anonymous.get(f"/docs/{asset}")).status_code == 200
