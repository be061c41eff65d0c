"""One path of the API as an ASGI application: its operations by method."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast
from urllib.parse import quote, unquote

from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import HTTPScope, Receive, Send

from penstock.kernel.errors import Invalid, NotFound, PenstockError, TooLarge
from penstock.resource.call import Call
from penstock.resource.operation import Answer, Operation
from penstock.server.authentication import Authentication
from penstock.server.problem import answer_for, problem
from penstock.server.route_path import RoutePath


class Endpoint:
    """Serves the operations of a path. HEAD is GET without the body; OPTIONS tells the methods, others are refused.

    path: tells the values of parameters. last_resort: the path has parameters only, so that it matches what is
    served nowhere; there, another method is an unknown path.
    """

    def __init__(
        self, path: RoutePath, operations: Mapping[str, Operation], authentication: Authentication, last_resort: bool
    ) -> None:
        self._path = path
        self._operations = operations
        self._authentication = authentication
        self._last_resort = last_resort

    async def __call__(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        operation = self._operations.get("GET" if method == "HEAD" else method)
        values = self._path.values(scope["path_params"])
        if values is None:
            answer = nothing_at(scope)
        elif operation is None:
            answer = self._refused(scope)
        else:
            answer = await self._answer(operation, values, scope, receive)
        await send_answer(answer, scope, receive, send)

    async def _answer(
        self, operation: Operation, values: Mapping[str, Any], scope: HTTPScope, receive: Receive
    ) -> Answer:
        try:
            # By position: the route may be called after another operation's parameters.
            call = _call(scope, receive, dict(zip(operation.path_names, values.values(), strict=True)))
            if operation.declaration.roles:
                call.actor = await self._authentication.actor(call.headers)
            answer = await operation(call)
            if answer.stream is not None and call.actor is not None:
                return replace(answer, stream=self._while_allowed(answer.stream, call))
            return answer
        except PenstockError as error:
            return answer_for(error, request_id(scope), operation.declaration.bodiless)
        except RecursionError:
            # What could just be read may be too deep to be written again, a few calls further down.
            return answer_for(Invalid.one("", "the body is nested too deeply"), request_id(scope))

    async def _while_allowed(self, pieces: AsyncIterator[bytes], call: Call) -> AsyncIterator[bytes]:
        """The pieces up to the first one that comes when the credential no longer holds, or cannot be checked."""
        async with aclosing(cast(AsyncGenerator[bytes], pieces)):
            async for piece in pieces:
                try:
                    await self._authentication.actor(call.headers)
                except PenstockError:
                    return
                yield piece

    def _refused(self, scope: HTTPScope) -> Answer:
        if self._last_resort:
            return nothing_at(scope)
        methods = sorted({*self._operations, "OPTIONS", *(("HEAD",) if "GET" in self._operations else ())})
        if scope["method"] == "OPTIONS":
            return Answer(204, b"", "", (_allow(methods),))
        return method_refused(scope, methods)


def nothing_at(scope: HTTPScope) -> Answer:
    """The answer where nothing is served."""
    return answer_for(NotFound(f"nothing is served at {scope['path']}"), request_id(scope))


def method_refused(scope: HTTPScope, methods: Iterable[str]) -> Answer:
    """The answer to a method that the path does not have."""
    title = "The method is not allowed here"
    return problem(405, "method-not-allowed", title, instance=request_id(scope), headers=(_allow(methods),))


def _allow(methods: Iterable[str]) -> tuple[str, str]:
    return "allow", ", ".join(methods)


def request_id(scope: HTTPScope) -> str:
    """The id that the request is logged under."""
    return cast(str, scope.get("state", {}).get("request_id", ""))


async def send_answer(answer: Answer, scope: HTTPScope, receive: Receive, send: Send) -> None:
    """Sends it whole, or as its stream goes on, and says when it is done."""
    whole = False
    try:
        await _send(answer, scope, receive, send)
        whole = scope["method"] != "HEAD"
    finally:
        if answer.done is not None:
            await answer.done(whole)


async def _send(answer: Answer, scope: HTTPScope, receive: Receive, send: Send) -> None:
    if answer.stream is not None:
        # Litestar's streaming response also watches for the caller's leaving.
        streaming = ASGIStreamingResponse(
            iterator=cast(AsyncIterator[str | bytes], answer.stream),
            status_code=answer.status,
            media_type=answer.media_type,
            headers=dict(answer.headers),
        )
        await streaming(scope, receive, send)
        return
    headers = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers]
    if answer.media_type:
        headers.append((b"content-type", answer.media_type.encode()))
    if answer.status != 204:
        headers.append((b"content-length", str(len(answer.body)).encode()))
    body = b"" if scope["method"] == "HEAD" else answer.body
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _call(scope: HTTPScope, receive: Receive, values: Mapping[str, Any]) -> Call:
    """values: of the path's parameters, as they came."""
    path = scope["path"]
    if scope["state"].get("escaped_path"):
        values = {name: unquote(value) for name, value in values.items()}
    else:
        path = quote(path)
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    client = scope["client"]
    return Call(
        method=scope["method"],
        path=path,
        path_values=values,
        query=scope["query_string"],
        headers=headers,
        read=lambda limit: _read(headers.get("content-length", ""), receive, limit),
        client=client[0] if client else "",
        scheme=scope["scheme"],
        protocol=f"HTTP/{scope['http_version']}",
        header_list=scope["headers"],
    )


async def _read(declared: str, receive: Receive, limit: int) -> bytes:
    too_large = TooLarge(f"the body may have {limit} bytes")
    if declared.isdigit() and int(declared) > limit:
        raise too_large
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            # The caller has left. What came may look whole, and must not be taken for what was meant.
            raise Invalid.one("", "the body ended too early")
        pieces.append(message["body"])
        size += len(message["body"])
        if size > limit:
            raise too_large
        if not message["more_body"]:
            return b"".join(pieces)
