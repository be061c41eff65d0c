"""The OpenAPI document, made from the tables."""

from typing import Any

from sqlalchemy import Table

_TYPES = {int: "integer", float: "number", bool: "boolean"}


def document(tables: dict[str, Table], *, writable: bool, title: str, server: str) -> dict[str, Any]:
    """OpenAPI 3.1. server: the route that the API is hosted at."""
    paths: dict[str, Any] = {}
    for name, table in tables.items():
        paths[f"/{name}"] = _collection(name, table, writable)
        paths[f"/{name}/{{key}}"] = _item(name, writable)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": "1.0.0"},
        "servers": [{"url": server or "/"}],
        "paths": paths,
        "components": {"schemas": {name: _schema(table) for name, table in tables.items()}},
    }


def _collection(name: str, table: Table, writable: bool) -> dict[str, Any]:
    parameters = [
        {"name": "limit", "in": "query", "schema": {"type": "integer", "default": 100}},
        {"name": "offset", "in": "query", "schema": {"type": "integer", "default": 0}},
        {"name": "order", "in": "query", "description": "A column; behind '-' downwards.", "schema": _TEXT},
        *({"name": column.name, "in": "query", "schema": _type(column)} for column in table.columns),
    ]
    item: dict[str, Any] = {
        "get": {
            "operationId": f"list_{name}",
            "summary": f"List rows of {name}",
            "tags": [name],
            "parameters": parameters,
            "responses": {"200": _content("The rows", {"type": "array", "items": _reference(name)})},
        }
    }
    if writable:
        item["post"] = _operation(f"add_{name}", f"Add a row to {name}", name, "201", body=True)
    return item


def _item(name: str, writable: bool) -> dict[str, Any]:
    item: dict[str, Any] = {
        "parameters": [{"name": "key", "in": "path", "required": True, "schema": _TEXT}],
        "get": _operation(f"get_{name}", f"Get a row of {name}", name, "200"),
    }
    if writable:
        item["patch"] = _operation(f"change_{name}", f"Change a row of {name}", name, "200", body=True)
        item["delete"] = {
            "operationId": f"remove_{name}",
            "summary": f"Remove a row of {name}",
            "tags": [name],
            "responses": {"204": {"description": "Removed"}},
        }
    return item


def _operation(id: str, summary: str, name: str, status: str, *, body: bool = False) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": id,
        "summary": summary,
        "tags": [name],
        "responses": {status: _content("The row", _reference(name))},
    }
    if body:
        operation["requestBody"] = {"content": {"application/json": {"schema": _reference(name)}}}
    return operation


def _schema(table: Table) -> dict[str, Any]:
    return {"type": "object", "properties": {column.name: _type(column) for column in table.columns}}


def _type(column: Any) -> dict[str, Any]:
    try:
        return {"type": _TYPES.get(column.type.python_type, "string")}
    except NotImplementedError:  # a type of this database alone
        return {}


def _content(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


_TEXT = {"type": "string"}
