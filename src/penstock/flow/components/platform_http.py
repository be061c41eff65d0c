"""`platform-http:PATH`: requests to the agent's HTTP server."""

import asyncio
import re
from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Self
from urllib.parse import parse_qsl

from aiohttp import web
from msgspec import Meta

from penstock.flow.body import BodyUnsuitable, body_of, bytes_of, charset_of
from penstock.flow.component import Consumer, Stop
from penstock.flow.exchange import Exchange, text_of
from penstock.flow.http.http_headers import outgoing, take_in
from penstock.flow.http.http_request import HttpMethod
from penstock.flow.http.http_server import ServedPath, ServerRequest, problem
from penstock.flow.intake import Intake
from penstock.flow.period import Period

_FORM = "application/x-www-form-urlencoded"
_STATUS = re.compile(r"[1-5]\d\d", re.ASCII)


class Methods(frozenset[HttpMethod]):
    """Methods with commas between; empty for all."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError for a word that is no method."""
        try:
            return cls(HttpMethod(word.strip().upper()) for word in text.split(",") if word.strip())
        except ValueError:
            raise ValueError(f"must be methods like GET,POST (of {', '.join(HttpMethod)})") from None

    def __str__(self) -> str:
        return ",".join(sorted(self))


class MediaTypes(tuple[str, ...]):
    """Media types with commas between."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(word.strip().lower() for word in text.split(",") if word.strip())

    def __str__(self) -> str:
        return ",".join(self)

    def meet(self, given: Iterable[str]) -> bool:
        """Whether one of the given ones, which may hold `*`, is one of these."""
        return any(_meets(own, other) for own in self for other in given)


class PlatformHttp(Consumer, frozen=True, kw_only=True):
    """Takes requests at the agent's own address, and answers with the message at the end of the route.

    Headers and parameters of path and query become headers, and CamelHttpMethod, CamelHttpPath, CamelHttpUri,
    CamelHttpUrl and CamelHttpQuery are set; the fields of a form become the body, as a map, and headers. The status is
    CamelHttpResponseCode, else 200, 204 without a body, and 500 when the exchange failed. The message's headers go
    along, save those that begin with `Camel`.
    """

    element = "platform-http"
    path = "path"

    path_: Annotated[str, Meta(description="Path, like `/orders/{id}`.", pattern="^[^?#\\s]+$")]
    http_method_restrict: Annotated[Methods, Meta(description="Methods, like GET,POST; all when absent.")] = Methods()
    match_on_uri_prefix: Annotated[bool, Meta(description="Takes longer paths as well.")] = False
    consumes: Annotated[MediaTypes, Meta(description="Media types of bodies; others are answered with 415.")] = (
        MediaTypes()
    )
    produces: Annotated[
        MediaTypes, Meta(description="Media types of answers; who takes none of them is answered with 406.")
    ] = MediaTypes()
    mute_exception: Annotated[bool, Meta(description="Answers a failure without saying what it was.")] = True
    request_timeout: Annotated[Period, Meta(description="Time to answer, else 503. 0: without end.")] = Period()

    async def start(self, intake: Intake) -> Stop:
        served = ServedPath(
            path=f"/{self.path_.lstrip('/')}".removesuffix("*"),
            methods=frozenset(self.http_method_restrict),
            prefix=self.match_on_uri_prefix or self.path_.endswith("*"),
            owner=(intake.flow.name, intake.flow),
            handle=lambda request: self._answer(request, intake),
        )
        server = intake.flow.surroundings.server
        await server.serve(served)

        async def stop() -> None:
            server.end(served)

        return stop

    async def _answer(self, request: ServerRequest, intake: Intake) -> web.Response:
        content_type = request.web.headers.get("Content-Type", "")
        if self.consumes and request.body and not self.consumes.meet([_media(content_type)]):
            return problem(415, f"{request.web.path} takes {self.consumes}")
        accepted = [_media(part) for part in request.web.headers.get("Accept", "*/*").split(",")]
        if self.produces and not self.produces.meet(accepted):
            return problem(406, f"{request.web.path} answers with {self.produces}")
        exchange = _exchange(request, content_type, intake)
        done, _ = await asyncio.wait({intake.accept(exchange)}, timeout=self._patience())
        if not done:
            return problem(503, "The flow did not answer in time")
        if isinstance(exchange.error, asyncio.CancelledError):
            return problem(503, "The flow was stopped", {"Retry-After": "1"})
        try:
            return self._response(exchange)
        except BodyUnsuitable as error:
            return problem(500, error.detail)

    def _patience(self) -> float | None:
        patience: timedelta = self.request_timeout
        return patience.total_seconds() or None

    def _response(self, exchange: Exchange) -> web.Response:
        content_type = text_of(exchange.headers.get("Content-Type"))
        body = bytes_of(exchange.body, charset_of(content_type))
        if exchange.error is not None:
            body = b"" if self.mute_exception else str(exchange.error).encode()
            content_type = "text/plain; charset=utf-8"
        response = web.Response(status=_status(exchange), body=body)
        for name, values in outgoing(exchange.headers):
            for value in values:
                response.headers.add(name, value)
        if not content_type and isinstance(exchange.body, str):
            content_type = "text/plain; charset=utf-8"
        if content_type:
            response.headers["Content-Type"] = content_type.replace("\r", " ").replace("\n", " ")
        return response


def _exchange(request: ServerRequest, content_type: str, intake: Intake) -> Exchange:
    exchange = intake.exchange()
    exchange.in_out = True
    headers = exchange.headers
    url = request.web.rel_url
    query = url.raw_query_string
    take_in(request.web.headers.items(), headers)
    take_in(parse_qsl(query, keep_blank_values=True), headers)
    take_in(request.parameters.items(), headers)
    headers["CamelHttpPath"] = request.web.path
    headers["CamelHttpMethod"] = request.web.method
    headers["CamelHttpUrl"] = str(request.web.url)
    headers["CamelHttpUri"] = url.raw_path_qs
    if query:
        headers["CamelHttpQuery"] = headers["CamelHttpRawQuery"] = query
    exchange.body = body_of(request.body, content_type)
    if _media(content_type) == _FORM and isinstance(exchange.body, str):
        fields = parse_qsl(exchange.body, keep_blank_values=True)
        take_in(fields, headers)
        exchange.body = _map(fields)
    return exchange


def _map(fields: Iterable[tuple[str, str]]) -> dict[str, object]:
    """The fields of a form; one that comes again is a list."""
    values: dict[str, list[str]] = {}
    for name, value in fields:
        values.setdefault(name, []).append(value)
    return {name: several if len(several) > 1 else several[0] for name, several in values.items()}


def _status(exchange: Exchange) -> int:
    """As Camel decides it."""
    asked = text_of(exchange.headers.get("CamelHttpResponseCode"))
    if _STATUS.fullmatch(asked):
        return int(asked)
    if exchange.error is not None:
        return 500
    blank = exchange.body is None or (isinstance(exchange.body, str) and not exchange.body.strip())
    return 204 if blank else 200


def _media(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _meets(own: str, given: str) -> bool:
    own_type, _, own_kind = own.partition("/")
    type_, _, kind = given.partition("/")
    return type_ in ("*", own_type) and kind in ("*", own_kind)
