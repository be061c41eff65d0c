"""The ASGI application."""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from urllib.parse import urljoin

import httpx
import msgspec

from penstock_api_proxy.operations import Operations

_DROPPED = frozenset(
    {
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_SECONDS = 30.0


class Application:
    """Passes on what the document describes, and nothing else. Serves the document at `/openapi.json`."""

    def __init__(self, operations: Operations, address: str, headers: Mapping[str, str]) -> None:
        self._operations = operations
        self._address = address.rstrip("/")
        self._headers = headers
        self._client = httpx.AsyncClient(timeout=_SECONDS, follow_redirects=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        root = scope.get("root_path", "")
        path = scope["path"].removeprefix(root)
        if path == "/openapi.json":
            await _send(send, 200, self._operations.document(root))
            return
        methods = self._operations.methods(path)
        if not methods:
            await _send(send, 404, {"status": 404, "detail": f"the API has no {path}"})
        elif scope["method"].lower() not in methods:
            allowed = ", ".join(sorted(methods)).upper()
            await _send(send, 405, {"status": 405, "detail": f"{path} takes {allowed}"}, [(b"allow", allowed.encode())])
        else:
            await self._pass_on(scope, receive, send, path)

    async def _pass_on(self, scope: Any, receive: Any, send: Any, path: str) -> None:
        headers = [(name, value) for name, value in scope["headers"] if name.decode("latin-1").lower() not in _DROPPED]
        own = [(name.encode(), value.encode()) for name, value in self._headers.items()]
        names = {name.lower() for name, _ in own}
        query = scope["query_string"].decode("latin-1")
        request = self._client.build_request(
            scope["method"],
            f"{self._address}{path}{'?' if query else ''}{query}",
            headers=[*((name, value) for name, value in headers if name.lower() not in names), *own],
            content=_body(receive) if _has_body(scope) else None,
        )
        try:
            response = await self._client.send(request, stream=True)
        except httpx.TimeoutException:
            await _send(send, 504, {"status": 504, "detail": "the API did not answer in time"})
            return
        except httpx.HTTPError as error:
            await _send(send, 502, {"status": 502, "detail": f"the API cannot be reached: {type(error).__name__}"})
            return
        try:
            kept = [(name, value) for name, value in response.headers.raw if name.lower().decode() not in _DROPPED]
            await send({"type": "http.response.start", "status": response.status_code, "headers": kept})
            async for piece in response.aiter_raw():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            await response.aclose()

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._client.aclose()
        await send({"type": "lifespan.shutdown.complete"})


def proxy(configuration: dict[str, Any]) -> Application:
    """The operations of an API that an OpenAPI document describes, passed on to it with headers of your own."""
    document = configuration.get("document") or _fetched(configuration["documentUrl"])
    operations = Operations(document, configuration.get("operations", []))
    address = configuration.get("address") or _address(document, configuration.get("documentUrl", ""))
    return Application(operations, address, configuration.get("headers", {}))


proxy.configuration_schema = {  # type: ignore[attr-defined]
    "type": "object",
    "additionalProperties": False,
    "oneOf": [{"required": ["document"]}, {"required": ["documentUrl"]}],
    "properties": {
        "document": {"type": "object", "description": "The OpenAPI document of the API."},
        "documentUrl": {"type": "string", "pattern": "^https?://", "description": "Where the document is."},
        "address": {
            "type": "string",
            "pattern": "^https?://",
            "description": "Where the API is; the first server of the document when left out.",
        },
        "operations": {
            "type": "array",
            "items": {"type": "string"},
            "description": "operationIds that are passed on; all when left out.",
        },
        "headers": {
            "type": "object",
            "additionalProperties": {"type": "string", "format": "password"},
            "description": "Headers added to each request, such as Authorization.",
        },
    },
}


def _fetched(url: str) -> dict[str, Any]:
    response = httpx.get(url, timeout=_SECONDS).raise_for_status()
    return msgspec.json.decode(response.content, type=dict[str, Any])


def _address(document: Mapping[str, Any], url: str) -> str:
    servers = document.get("servers") or [{"url": "/"}]
    address = urljoin(url, str(servers[0].get("url", "/")))
    if not address.startswith(("http://", "https://")):
        raise ValueError("the document names no server: set address")
    return address


def _has_body(scope: Any) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])


async def _body(receive: Any) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = await receive()
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def _send(send: Any, status: int, content: Any, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    media_type = b"application/json" if status < 400 else b"application/problem+json"
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [(b"content-type", media_type), *(headers or [])]})
    await send({"type": "http.response.body", "body": msgspec.json.encode(content)})
