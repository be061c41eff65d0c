"""The ASGI application."""

import asyncio
from typing import Any

from sqlalchemy import create_engine

from penstock_api_sql.http import Answer, Problem, Request, respond
from penstock_api_sql.openapi import document
from penstock_api_sql.tables import Tables

_RESERVED = ("limit", "offset", "order")


class Application:
    """Serves `/TABLE`, `/TABLE/KEY`, `/openapi.json` and `/health`."""

    def __init__(self, tables: Tables, configuration: dict[str, Any]) -> None:
        self._tables = tables
        self._writable = bool(configuration.get("writable", False))
        self._most = int(configuration.get("maxRows", 1000))
        self._title = str(configuration.get("title", "SQL database"))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
        elif scope["type"] == "http":
            root = scope.get("root_path", "")
            await respond(scope, receive, send, lambda request: self._answer(request, root))

    async def _answer(self, request: Request, root: str) -> Answer:
        match request.segments:
            case ["openapi.json"]:
                served = document(self._tables.known, writable=self._writable, title=self._title, server=root)
                return Answer(200, served)
            case ["health"]:
                await asyncio.to_thread(self._tables.check)
                return Answer(200, {"database": "answers"})
            case [name] if name in self._tables.known:
                return await self._collection(request, name)
            case [name, key] if name in self._tables.known:
                return await self._item(request, name, key)
        raise Problem(404, f"there is nothing here; tables are {', '.join(self._tables.known)}")

    async def _collection(self, request: Request, name: str) -> Answer:
        table = self._tables.known[name]
        if request.method in ("GET", "HEAD"):
            limit = min(_number(request, "limit", min(100, self._most)), self._most)
            filters = {column: value for column, value in request.query.items() if column not in _RESERVED}
            order, offset = request.query.get("order", ""), _number(request, "offset", 0)
            return Answer(200, await asyncio.to_thread(self._tables.find, table, filters, order, limit, offset))
        self._check_method(request, "POST")
        return Answer(201, await asyncio.to_thread(self._tables.add, table, request.fields()))

    async def _item(self, request: Request, name: str, key: str) -> Answer:
        table = self._tables.known[name]
        if request.method in ("GET", "HEAD"):
            return Answer(200, await asyncio.to_thread(self._tables.get, table, key))
        self._check_method(request, "PATCH", "DELETE")
        if request.method == "PATCH":
            return Answer(200, await asyncio.to_thread(self._tables.change, table, key, request.fields()))
        await asyncio.to_thread(self._tables.remove, table, key)
        return Answer(204)

    def _check_method(self, request: Request, *allowed: str) -> None:
        if request.method not in allowed or not self._writable:
            raise Problem(405, "only reading is allowed here" if not self._writable else "the method is not allowed")


def sql(configuration: dict[str, Any]) -> Application:
    """Tables of a SQL database as a REST API: rows listed, filtered, read and, where that is allowed, changed."""
    engine = create_engine(configuration["url"], pool_pre_ping=True)
    return Application(Tables(engine, configuration.get("tables", [])), configuration)


sql.health_path = "/health"  # type: ignore[attr-defined]
sql.configuration_schema = {  # type: ignore[attr-defined]
    "type": "object",
    "required": ["url"],
    "additionalProperties": False,
    "properties": {
        "url": {
            "type": "string",
            "format": "password",
            "minLength": 1,
            "description": "Address of the database, like postgresql+psycopg://user:password@host/name.",
        },
        "tables": {
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "description": "The tables that are served; all when left out.",
        },
        "writable": {"type": "boolean", "default": False, "description": "Whether rows may be changed."},
        "maxRows": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 1000},
        "title": {"type": "string", "maxLength": 200},
    },
}


async def _live(receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


def _number(request: Request, name: str, otherwise: int) -> int:
    text = request.query.get(name, str(otherwise))
    if not text.isascii() or not text.isdigit():
        raise Problem(400, f"{name} must be a whole number")
    return int(text)
