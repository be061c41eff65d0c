"""Around every request: an id, a log line, a measurement, and paths whose parameters hold slashes."""

import re
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote

import structlog
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from penstock.kernel.ids import new_short_id
from penstock.server.metrics import request_seconds

log = structlog.get_logger(__name__)
# No browser takes data for a page, and no cache keeps what held once: tokens and secrets are among the answers.
_TYPE_AS_SAID = (b"x-content-type-options", b"nosniff")
_UNCACHED = (b"cache-control", b"no-store")
_GIVEN_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class RequestFrame:
    """ASGI middleware, outermost. The id is taken from X-Request-ID when it is well formed, and answered there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = _request_id(scope)
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        _keep_escaped_slashes(scope)
        status = 0

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _completed(message["headers"], request_id)
            await send(message)

        # Each request has a task, and so a context, of its own: nothing needs to be unbound.
        structlog.contextvars.bind_contextvars(request=request_id)
        try:
            await self._app(scope, receive, observed)
        finally:
            _account(scope, status, time.perf_counter() - started)


def _completed(headers: Iterable[tuple[bytes, bytes]], request_id: str) -> list[tuple[bytes, bytes]]:
    """The headers of an answer with those that every answer has."""
    completed = [*headers, (b"x-request-id", request_id.encode()), _TYPE_AS_SAID]
    if not any(name == b"cache-control" for name, _ in completed):
        completed.append(_UNCACHED)
    return completed


def _request_id(scope: Any) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _GIVEN_ID.fullmatch(value):
            return str(value.decode())
    return new_short_id()


def _keep_escaped_slashes(scope: Any) -> None:
    # Routing works on the decoded path, where an escaped slash in a parameter would look like two segments.
    raw: bytes = scope.get("raw_path") or b""
    if b"%2f" in raw.lower():
        segments = raw.decode("ascii", "replace").split("?")[0].split("/")
        scope["path"] = "/".join(quote(unquote(segment), safe="") for segment in segments)
        scope["state"]["escaped_path"] = True


def _account(scope: Any, status: int, seconds: float) -> None:
    request_seconds(scope["method"], scope.get("path_template") or "unknown", status).observe(seconds)
    # What went well is in the metrics; its line is for those who look into something.
    tell = log.debug if status < 400 else log.info if status < 500 else log.warning
    tell("request", method=scope["method"], path=scope["path"], status=status, milliseconds=round(seconds * 1000, 2))
