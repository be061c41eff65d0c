"""OpenAPI documents of web triggers and notebook endpoints, from the parameters of what they run."""

from collections.abc import Sequence
from typing import Any

from penstock.areas.apim.catalog.source_document import SourceDocument
from penstock.resource.ports.scripts import DeclaredParameter

_ANY = "any"
_ANSWER = {"200": {"description": "The result, in its media type", "content": {"*/*": {}}}}


def derived_document(name: str, parameters: Sequence[DeclaredParameter]) -> SourceDocument:
    """GET takes the parameters in the query, POST in a JSON object."""
    query = [
        {"name": each.name, "in": "query", "required": each.required, "schema": _schema(each)} for each in parameters
    ]
    body: dict[str, Any] = {"type": "object", "properties": {each.name: _schema(each) for each in parameters}}
    required = [each.name for each in parameters if each.required]
    if required:
        body["required"] = required
    content = {"application/json": {"schema": body}}
    item = {
        "get": {"operationId": f"{name}_get", "summary": f"Run {name}", "parameters": query, "responses": _ANSWER},
        "post": {
            "operationId": f"{name}_post",
            "summary": f"Run {name}",
            "requestBody": {"content": content, "required": bool(required)},
            "responses": _ANSWER,
        },
    }
    return SourceDocument({"openapi": "3.1.0", "info": {"title": name, "version": "1"}, "paths": {"": item}})


def _schema(parameter: DeclaredParameter) -> dict[str, Any]:
    return {} if parameter.type == _ANY else {"type": parameter.type}
