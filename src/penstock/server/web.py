"""The ASGI application: Litestar routes each path to its endpoint."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, cast

import structlog
from litestar import HttpMethod, Litestar, Request, Response
from litestar.config.cors import CORSConfig
from litestar.exceptions import HTTPException, MethodNotAllowedException, NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp, ExceptionHandlersMap, HTTPScope

from penstock.resource.operation import Answer, Operation
from penstock.server.authentication import Authentication
from penstock.server.endpoint import Endpoint, method_refused, nothing_at, request_id
from penstock.server.platform import Platform
from penstock.server.problem import problem
from penstock.server.requests import RequestFrame
from penstock.server.route_path import RoutePath

log = structlog.get_logger(__name__)

HttpRequest = Request[Any, Any, Any]


def web_application(platform: Platform) -> ASGIApp:
    """The ASGI application that serves the platform's operations. CORS is off unless origins are set.

    Raises TypeError when two operations claim one route.
    """
    return operations_application(platform.operations, platform.authentication, platform.settings.cors_origins)


def operations_application(
    operations: Sequence[Operation], authentication: Authentication, origins: Sequence[str] = ()
) -> ASGIApp:
    """The ASGI application that serves operations. origins: of CORS. Raises TypeError as web_application."""
    endpoints = {
        path: Endpoint(RoutePath(path), by_method, authentication, last_resort=path.startswith("/{"))
        for path, by_method in _by_path(operations).items()
    }
    application = Litestar(
        route_handlers=[_route(path, endpoint) for path, endpoint in endpoints.items()],
        openapi_config=None,
        logging_config=None,
        cors_config=CORSConfig(allow_origins=list(origins), expose_headers=_EXPOSED) if origins else None,
        exception_handlers=cast(ExceptionHandlersMap, {HTTPException: _framework_error, Exception: _unexpected_error}),
    )
    return RequestFrame(application)


def _by_path(operations: Sequence[Operation]) -> dict[str, dict[str, Operation]]:
    paths: dict[str, dict[str, Operation]] = defaultdict(dict)
    firsts: dict[str, str] = {}
    for operation in operations:
        declaration = operation.declaration
        # Paths that differ only in the names of their parameters are one to a caller.
        path = firsts.setdefault(re.sub(r"\{\w+\}", "{}", declaration.path), declaration.path)
        other = paths[path].setdefault(declaration.method, operation)
        if other is not operation:
            raise TypeError(f"{declaration.method} {declaration.path} is declared by {operation.area} and {other.area}")
    return paths


def _route(path: str, endpoint: Endpoint) -> HTTPRouteHandler:
    async def serve() -> ASGIApp:
        return cast(ASGIApp, endpoint)

    return HTTPRouteHandler(RoutePath(path).template, http_method=_METHODS, name=path)(serve)


# All that Litestar knows; the endpoint says which of them it has.
_METHODS = list(HttpMethod)
# What scripts of other origins may read of an answer, besides its body.
_EXPOSED = ["ETag", "Link", "Retry-After", "X-Request-ID"]


def _framework_error(request: HttpRequest, error: HTTPException) -> Response[bytes]:
    if isinstance(error, NotFoundException):
        return _response(nothing_at(_scope(request)))
    if isinstance(error, MethodNotAllowedException):
        return _response(method_refused(_scope(request), _METHODS))
    code = re.sub(r"\W+", "-", (error.detail or "error").lower()).strip("-")
    return _response(problem(error.status_code, code, error.detail, instance=request_id(_scope(request))))


def _unexpected_error(request: HttpRequest, error: Exception) -> Response[bytes]:
    log.error("request failed unexpectedly", path=request.scope["path"], exc_info=error)
    title = "The server failed to answer; its log has the cause under this request's id"
    return _response(problem(500, "internal", title, instance=request_id(_scope(request))))


def _scope(request: HttpRequest) -> HTTPScope:
    return request.scope


def _response(answer: Answer) -> Response[bytes]:
    return Response(answer.body, status_code=answer.status, media_type=answer.media_type, headers=dict(answer.headers))
