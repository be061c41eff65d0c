"""Operations behind an ASGI server, without one."""

import sys
from collections.abc import MutableMapping
from typing import Any

import msgspec

from penstock.kernel.wire import Map, encode
from penstock.resource.answer import Encoded
from penstock.resource.operation import operation, operations_of
from penstock.resource.parameter import Body
from penstock.server.authentication import Authentication
from penstock.server.endpoint import Endpoint
from penstock.server.route_path import RoutePath


class Echo:
    @operation("PUT", "/echo")
    async def echo(self, given: Body[Map]) -> Map:
        def deeper(calls: int) -> Map:
            return deeper(calls - 1) if calls else msgspec.json.decode(encode(given))

        return deeper(40)


class Letters:
    @operation("GET", "/letters/{name}")
    async def letters(self, name: str, skip: int = 0) -> Encoded[list[str]]:
        return Encoded(b"[]", next_skip=1)


async def answer_of(handlers: object, path: str, body: bytes = b"", **params: str) -> tuple[int, dict[str, str]]:
    """The status and headers that the only operation of `handlers` answers."""
    [only] = operations_of("tests", handlers)
    method = only.declaration.method
    endpoint = Endpoint(RoutePath(only.declaration.path), {method: only}, Authentication([]), last_resort=False)
    sent: list[MutableMapping[str, Any]] = []
    scope: Any = {
        "type": "http",
        "method": method,
        "path": path,
        "path_params": params,
        "query_string": b"",
        "headers": [],
        "client": None,
        "scheme": "http",
        "http_version": "1.1",
        "state": {},
    }

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await endpoint(scope, receive, send)
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


async def test_the_link_to_the_next_page_is_an_address_whatever_the_path_holds() -> None:
    _, headers = await answer_of(Letters(), "/letters/\u212a\r\n>x", name="\u212a\r\n>x")
    assert headers["link"] == '</letters/%E2%84%AA%0D%0A%3Ex?Skip=1>; rel="next"'


async def test_a_body_that_is_nested_too_deeply_is_refused_wherever_that_shows() -> None:
    statuses = set()
    for depth in range(sys.getrecursionlimit() - 150, sys.getrecursionlimit() + 20):
        status, _ = await answer_of(Echo(), "/echo", b'{"a":' * depth + b"1" + b"}" * depth)
        statuses.add(status)
    assert statuses == {200, 400}
