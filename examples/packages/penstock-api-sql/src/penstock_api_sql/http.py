"""What of HTTP the API needs: a request read, an answer written."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote

import msgspec

LARGEST_BODY = 4 * 1024 * 1024


class Problem(Exception):
    """An error that the caller is told, as a problem document (RFC 9457)."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


@dataclass(frozen=True)
class Request:
    """segments: of the path below the route."""

    method: str
    segments: list[str]
    query: Mapping[str, str]
    body: bytes

    def fields(self) -> dict[str, Any]:
        """The body as an object. Raises Problem."""
        try:
            return msgspec.json.decode(self.body, type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise Problem(400, f"the body must be a JSON object: {error}") from None


@dataclass(frozen=True)
class Answer:
    status: int
    content: Any = None


Handle = Callable[[Request], Awaitable[Answer]]


async def respond(scope: Mapping[str, Any], receive: Any, send: Any, handle: Handle) -> None:
    """One HTTP request of ASGI, from its body to its answer."""
    try:
        answer = await handle(await _request(scope, receive))
        media_type = b"application/json"
    except Problem as problem:
        answer = Answer(problem.status, {"status": problem.status, "detail": str(problem)})
        media_type = b"application/problem+json"
    body = b"" if answer.content is None else msgspec.json.encode(answer.content, enc_hook=str)
    headers = [(b"content-type", media_type)] if body else []
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


async def _request(scope: Mapping[str, Any], receive: Any) -> Request:
    body = bytearray()
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > LARGEST_BODY:
            raise Problem(413, f"the body has more than {LARGEST_BODY} bytes")
    # The route that the API is hosted at is not of interest here.
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
    return Request(scope["method"], [unquote(part) for part in path.split("/") if part], query, bytes(body))
