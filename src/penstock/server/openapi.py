"""The OpenAPI 3.1 document, made from the operations: signatures, Structs and docstrings."""

import inspect
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any, get_args, get_origin

from penstock.kernel.shape import shape_of
from penstock.resource.answer import Encoded, EventStream, File
from penstock.resource.operation import EVENT_STREAM, JSON, NO_CONTENT, Answer, Operation
from penstock.resource.parameter import BODIES, Parameter, Place
from penstock.server.problem import MEDIA_TYPE, Problem
from penstock.server.schemas import schemas_of, without_null


def openapi_document(operations: Sequence[Operation], version: str) -> dict[str, Any]:
    """The document. Component names are the Structs' names."""
    annotations = [annotation for operation in operations for annotation in _annotations(operation)]
    schemas, components = schemas_of([*annotations, Problem])
    by_annotation = dict(zip(map(repr, annotations), schemas, strict=False))
    paths: dict[str, dict[str, Any]] = {}
    for operation in sorted(operations, key=lambda o: (o.declaration.path, o.declaration.method)):
        item = _operation(operation, by_annotation)
        paths.setdefault(operation.declaration.path, {})[operation.declaration.method.lower()] = item
    return {
        "openapi": "3.1.0",
        "info": {"title": "Penstock", "version": version, "description": _DESCRIPTION},
        "servers": [{"url": "/"}],
        "tags": [{"name": area} for area in sorted({operation.area for operation in operations})],
        "security": [{"token": []}, {"key": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
    }


_DESCRIPTION = (
    "Times are ISO 8601 in UTC, durations `[-][d.]hh:mm:ss[.fffffff]`, errors RFC 9457 problem documents. "
    "In requests `null` and an omitted field mean the same, and an unknown field is refused."
)


def answer_type(operation: Operation) -> Any:
    """What a handler's answer is as JSON; None for no body, File for other media."""
    returns = operation.returns
    if get_origin(returns) is Encoded:
        return get_args(returns)[0]
    if NO_CONTENT in operation.declaration.bodiless:
        return shape_of(returns).type  # nothing is another status
    return None if returns is type(None) else returns


def _annotations(operation: Operation) -> Iterable[Any]:
    answer = answer_type(operation)
    if answer not in (None, File, EventStream, Answer):
        yield answer
    for parameter in operation.parameters:
        if parameter.place in BODIES:
            yield parameter.shape.annotation
    for parameter in (*operation.query.values(), *_path_parameters(operation)):
        yield parameter.shape.annotation


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    summary, _, description = inspect.cleandoc(operation.docs).partition("\n")
    item: dict[str, Any] = {
        "tags": [operation.area],
        "operationId": operation.id,
        "summary": summary.strip().rstrip("."),
        "parameters": [_parameter(p, schemas) for p in (*_path_parameters(operation), *operation.query.values())],
        "responses": _responses(operation, schemas),
        "x-roles": [str(role) for role in operation.declaration.roles],
    }
    if description.strip():
        item["description"] = description.strip()
    if not operation.declaration.roles:
        item["security"] = []
    if operation.body is not None:
        schema = schemas[repr(operation.body.shape.annotation)]
        item["requestBody"] = {"content": {JSON: {"schema": schema}}, "required": False}
    return item


def _path_parameters(operation: Operation) -> list[Parameter]:
    return [p for p in operation.parameters if p.place is Place.PATH]


def _parameter(parameter: Parameter, schemas: dict[str, Any]) -> dict[str, Any]:
    in_path = parameter.place is Place.PATH
    return {
        "name": parameter.name,
        "in": "path" if in_path else "query",
        "required": in_path or parameter.required,
        "schema": without_null(schemas[repr(parameter.shape.annotation)]),
    }


def _responses(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    declaration = operation.declaration
    responses = {str(declaration.status): _success(operation, schemas)}
    for status in sorted(declaration.bodiless):
        responses[str(status)] = {"description": HTTPStatus(status).phrase}
    problem = {"description": "A problem document", "content": {MEDIA_TYPE: {"schema": _PROBLEM}}}
    return {**responses, "default": problem}


_PROBLEM = {"$ref": "#/components/schemas/Problem"}


def _success(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    answer = answer_type(operation)
    description = HTTPStatus(operation.declaration.status).phrase
    if answer is None:
        return {"description": description}
    if answer in (File, Answer):
        return {"description": description, "content": {"*/*": {}}}  # a schema would be of JSON
    if answer is EventStream:
        return {"description": description, "content": {EVENT_STREAM: {}}}
    return {"description": description, "content": {JSON: {"schema": schemas[repr(answer)]}}}
