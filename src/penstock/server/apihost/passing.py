"""Requests to endpoints, passed on: everything that is no operation of the component itself."""

from collections.abc import AsyncIterator
from typing import Any, cast

from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from penstock.apihost.entrance import KEY_HEADER, Entrance
from penstock.apihost.proxy import Answered, Forwarded, TooSlow, Unreached
from penstock.kernel.errors import PenstockError, TooLarge
from penstock.resource.operation import Answer
from penstock.server.apihost.hosted import Hosted, HostedEndpoints
from penstock.server.endpoint import send_answer
from penstock.server.problem import problem

_STATUSES: dict[type[PenstockError], int] = {TooLarge: 413, Unreached: 502, TooSlow: 504}
_KEY = KEY_HEADER.lower().encode()


class EndpointPassing:
    """operations: the application that serves what no endpoint does."""

    def __init__(self, endpoints: HostedEndpoints, entrance: Entrance, operations: ASGIApp) -> None:
        self._endpoints = endpoints
        self._entrance = entrance
        self._operations = operations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Neither WebSockets nor a lifespan are asked of it.
        hosted = self._endpoints.at(scope["path"])
        if hosted is None:
            await self._operations(scope, receive, send)
            return
        await self._pass_on(hosted, cast(HTTPScope, scope), receive, send)

    async def _pass_on(self, hosted: Hosted, scope: HTTPScope, receive: Receive, send: Send) -> None:
        key = next((value.decode("latin-1") for name, value in scope["headers"] if name == _KEY), None)
        if not self._entrance.admits(key):
            detail = f"the header {KEY_HEADER} must hold the key of the endpoints"
            await send_answer(problem(401, "unauthenticated", "A key is needed", detail), scope, receive, send)
        elif hosted.life.proxy is None:
            detail = f"the endpoint {hosted.route} is {hosted.life.status}"
            refusal = problem(503, "unavailable", "Not ready", detail, headers=(("retry-after", "5"),))
            await send_answer(refusal, scope, receive, send)
        else:
            try:
                async with hosted.life.proxy.forward(_forwarded(hosted.route, scope, receive)) as answered:
                    await _send(answered, send)
            except (TooLarge, Unreached, TooSlow) as error:
                await send_answer(_refusal(error), scope, receive, send)


def _refusal(error: PenstockError) -> Answer:
    return problem(_STATUSES[type(error)], error.code, error.title, error.detail)


def _forwarded(route: str, scope: HTTPScope, receive: Receive) -> Forwarded:
    headers = [header for header in scope["headers"] if header[0] != _KEY]
    has_body = any(name in (b"content-length", b"transfer-encoding") for name, _ in headers)
    client = scope["client"]
    return Forwarded(
        method=str(scope["method"]),
        path=scope["raw_path"].decode("latin-1").partition("?")[0].removeprefix(route) or "/",
        query=scope["query_string"].decode("latin-1"),
        headers=headers,
        body=_pieces(receive) if has_body else None,
        client=client[0] if client else "",
        scheme=str(scope["scheme"]),
    )


async def _pieces(receive: Receive) -> AsyncIterator[bytes]:
    more = True
    while more:
        message = cast(Any, await receive())
        if message["type"] != "http.request":
            raise ConnectionError  # the caller has left: what came must not look whole
        yield message.get("body", b"")
        more = message.get("more_body", False)


async def _send(answered: Answered, send: Send) -> None:
    """An answer that breaks off raises, and the server cuts the connection: it must not look whole."""
    headers = [(name.lower(), value) for name, value in answered.headers]
    await send({"type": "http.response.start", "status": answered.status, "headers": headers})
    if answered.whole is not None:
        await send({"type": "http.response.body", "body": answered.whole, "more_body": False})
        return
    try:
        async for piece in answered.pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    except Unreached as error:
        raise ConnectionError(error.detail) from None
    await send({"type": "http.response.body", "body": b"", "more_body": False})
