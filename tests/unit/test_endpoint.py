"""Operations behind an ASGI server, without one."""

from collections.abc import MutableMapping
from typing import Any

from penstock.resource.answer import Encoded
from penstock.resource.operation import operation, operations_of
from penstock.server.authentication import Authentication
from penstock.server.endpoint import Endpoint
from penstock.server.route_path import RoutePath


class Letters:
    @operation("GET", "/letters/{name}")
    async def letters(self, name: str, skip: int = 0) -> Encoded[list[str]]:
        return Encoded(b"[]", next_skip=1)


async def headers_of(path: str, **params: str) -> dict[str, str]:
    [get] = operations_of("letters", Letters())
    endpoint = Endpoint(RoutePath("/letters/{name}"), {"GET": get}, Authentication([]), last_resort=False)
    sent: list[MutableMapping[str, Any]] = []
    scope: Any = {
        "type": "http",
        "method": "GET",
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
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await endpoint(scope, receive, send)
    return {name.decode(): value.decode() for name, value in sent[0]["headers"]}


async def test_the_link_to_the_next_page_is_an_address_whatever_the_path_holds() -> None:
    headers = await headers_of("/letters/\u212a\r\n>x", name="\u212a\r\n>x")
    assert headers["link"] == '</letters/%E2%84%AA%0D%0A%3Ex?Skip=1>; rel="next"'
