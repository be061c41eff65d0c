"""Binds operations to Litestar routes. The only module that knows the web framework's requests and responses."""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, cast
from urllib.parse import unquote

import structlog
from litestar import HttpMethod, Litestar, Request, Response
from litestar.config.cors import CORSConfig
from litestar.exceptions import HTTPException, MethodNotAllowedException, NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import ASGIApp, ExceptionHandlersMap, Receive, Scope, Send

from penstock.kernel.errors import NotFound, PenstockError, TooLarge
from penstock.resource.call import Call
from penstock.resource.operation import Answer, Operation
from penstock.server.authentication import Authentication
from penstock.server.platform import Platform
from penstock.server.problem import answer_for, problem
from penstock.server.requests import RequestFrame

log = structlog.get_logger(__name__)

HttpRequest = Request[Any, Any, Any]


def web_application(platform: Platform) -> ASGIApp:
    """The ASGI application that serves the platform's operations. CORS is off unless origins are set.

    Raises TypeError when two operations claim one route.
    """
    check_routes(platform.operations)
    origins = platform.settings.cors_origins
    application = Litestar(
        route_handlers=[_route(operation, platform.authentication) for operation in platform.operations],
        openapi_config=None,
        logging_config=None,
        request_max_body_size=None,
        cors_config=CORSConfig(allow_origins=origins) if origins else None,
        exception_handlers=cast(ExceptionHandlersMap, {HTTPException: _framework_error, Exception: _unexpected_error}),
    )
    return RequestFrame(application)


def check_routes(operations: Iterable[Operation]) -> None:
    """Raises TypeError when two operations claim one method and path."""
    claims: dict[tuple[str, str], list[str]] = defaultdict(list)
    for operation in operations:
        shape = re.sub(r"\{\w+\}", "{}", operation.declaration.path).lower()
        claims[operation.declaration.method, shape].append(operation.area)
    doubled = {claim: areas for claim, areas in claims.items() if len(areas) > 1}
    if doubled:
        raise TypeError(f"routes are declared twice: {doubled}")


def _route(operation: Operation, authentication: Authentication) -> HTTPRouteHandler:
    declaration = operation.declaration

    async def serve(request: HttpRequest) -> ASGIApp:
        call = _call(request)
        try:
            if call.method != declaration.method:
                raise _nothing_at(call.path)
            if declaration.roles:
                call.actor = await authentication.actor(call.headers)
            answer = await operation(call)
        except PenstockError as error:
            answer = answer_for(error, request_id(request), declaration.bodiless)
        return _reply(answer)

    return HTTPRouteHandler(
        re.sub(r"\{(\w+)\}", r"{\1:str}", declaration.path),
        # A path of parameters alone matches what is served nowhere; other methods there are answered as unknown paths.
        http_method=list(HttpMethod) if declaration.path.startswith("/{") else HttpMethod(declaration.method),
        name=f"{declaration.method} {declaration.path}",
        status_code=declaration.status,
    )(serve)


def request_id(request: HttpRequest) -> str:
    """The id that the request is logged under."""
    return cast(str, request.scope.get("state", {}).get("request_id", ""))


def _call(request: HttpRequest) -> Call:
    scope = request.scope
    values: Mapping[str, Any] = request.path_params
    if scope.get("state", {}).get("escaped_path"):
        values = {name: unquote(value) for name, value in values.items()}
    client = scope.get("client")
    return Call(
        method=scope["method"],
        path=scope["path"],
        path_values=values,
        query=scope["query_string"],
        headers={name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]},
        read=lambda limit: _read(request, limit),
        client=client[0] if client else "",
        scheme=scope["scheme"],
        protocol=f"HTTP/{scope['http_version']}",
    )


async def _read(request: HttpRequest, limit: int) -> bytes:
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise TooLarge(f"the body may have {limit} bytes")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise TooLarge(f"the body may have {limit} bytes")
    return bytes(body)


class Reply:
    """An answer as an ASGI application; what a handler gives Litestar to send."""

    __slots__ = ("_answer",)

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._answer
        headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers]
        if answer.media_type:
            headers.append((b"content-type", answer.media_type.encode()))
        headers.append((b"content-length", str(len(answer.body)).encode()))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body, "more_body": False})


def _reply(answer: Answer) -> ASGIApp:
    if answer.stream is None:
        return cast(ASGIApp, Reply(answer))
    # Litestar's streaming response also watches for the caller's leaving.
    return ASGIStreamingResponse(
        iterator=cast(AsyncIterator[str | bytes], answer.stream),
        status_code=answer.status,
        media_type=answer.media_type,
        headers=dict(answer.headers),
    )


def _error_response(answer: Answer) -> Response[bytes]:
    return Response(answer.body, status_code=answer.status, media_type=answer.media_type, headers=dict(answer.headers))


def _framework_error(request: HttpRequest, error: HTTPException) -> Response[bytes]:
    if isinstance(error, NotFoundException):
        return _error_response(answer_for(_nothing_at(request.scope["path"]), request_id(request)))
    if isinstance(error, MethodNotAllowedException):
        allowed = tuple((error.headers or {}).items())
        title = "The method is not allowed here"
        return _error_response(problem(405, "method-not-allowed", title, error.detail, request_id(request), allowed))
    code = re.sub(r"\W+", "-", (error.detail or "error").lower()).strip("-")
    return _error_response(problem(error.status_code, code, error.detail, instance=request_id(request)))


def _nothing_at(path: str) -> NotFound:
    return NotFound(f"nothing is served at {path}")


def _unexpected_error(request: HttpRequest, error: Exception) -> Response[bytes]:
    if isinstance(error, PenstockError):
        return _error_response(answer_for(error, request_id(request)))
    log.error("request failed unexpectedly", path=request.scope["path"], exc_info=error)
    title = "The server failed to answer; its log has the cause under this request's id"
    return _error_response(problem(500, "internal", title, instance=request_id(request)))
