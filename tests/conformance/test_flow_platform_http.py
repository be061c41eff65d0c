"""`platform-http`: flows that answer requests at the agent's own address, over real connections."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import aiohttp
import pytest

from penstock.flow.http.http_server import HttpServerFailed
from penstock.flow.surroundings import Reach
from tests.conformance.flow_sources import route
from tests.conformance.running_engine import RunningEngine, eventually, running_engine

GRACE = timedelta(seconds=30)
SLOW = "to: {uri: exec:sleep, parameters: {args: ['0.3']}}"


class Answer:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def text(self) -> str:
        return self.body.decode()


class Served:
    """An engine with an HTTP server, and a client of it."""

    def __init__(self, running: RunningEngine, client: aiohttp.ClientSession) -> None:
        self.running = running
        self._client = client

    async def start(self, *routes: str, name: str = "web", version: str = "1") -> None:
        await self.running.start(name, "".join(routes), version)

    async def ask(self, method: str, path: str, **options: Any) -> Answer:
        url = f"http://127.0.0.1:{self.running.surroundings.server.port}{path}"
        async with self._client.request(method, url, **options) as answer:
            return Answer(answer.status, dict(answer.headers), await answer.read())


@asynccontextmanager
async def served(**reach: Any) -> AsyncIterator[Served]:
    async with running_engine(reach=Reach(http_port=0, **reach)) as running, aiohttp.ClientSession() as client:
        yield Served(running, client)


async def test_a_request_is_a_message_and_the_message_at_the_end_is_the_answer() -> None:
    async with served() as web:
        await web.start(
            route(
                "platform-http:/orders/{id}",
                "log: '${header.CamelHttpMethod} ${header.CamelHttpPath} ${header.id} ${header.q} ${header.X-Mine}'",
                "setHeader: {name: X-Answer, constant: a}",
                "setBody: {simple: 'got ${body}'}",
            )
        )
        answer = await web.ask("POST", "/orders/1%202?q=x%20y", data="hällo", headers={"X-Mine": "m"})
        assert (answer.status, answer.text, answer.headers["X-Answer"]) == (200, "got hällo", "a")
        assert web.running.listener.messages == ["POST /orders/1 2 1 2 x y m"]


async def test_headers_that_come_again_make_a_list() -> None:
    async with served() as web:
        await web.start(route("platform-http:/list", "setBody: {simple: 'n=${header.n}'}"))
        assert (await web.ask("GET", "/list?n=1&n=2")).text == "n=[1, 2]"


async def test_a_form_becomes_a_map_and_headers() -> None:
    async with served() as web:
        await web.start(route("platform-http:/form", "setBody: {simple: '${body} ${header.name}'}"))
        assert (await web.ask("POST", "/form", data={"name": "Ann"})).text == "{name=Ann} Ann"
        again = aiohttp.FormData([("name", "Ann"), ("name", "Bob")])
        assert (await web.ask("POST", "/form", data=again)).text == "{name=[Ann, Bob]} [Ann, Bob]"


async def test_bytes_stay_bytes() -> None:
    async with served() as web:
        await web.start(route("platform-http:/echo", "log: on"))
        content = bytes(range(256))
        answer = await web.ask("POST", "/echo", data=content, headers={"Content-Type": "image/png"})
        assert (answer.body, answer.headers["Content-Type"]) == (content, "image/png")


async def test_the_status_is_what_the_flow_says() -> None:
    async with served() as web:
        await web.start(route("platform-http:/made", "setHeader: {name: CamelHttpResponseCode, constant: '201'}"))
        assert (await web.ask("POST", "/made", data="x")).status == 201


async def test_an_answer_without_body_has_status_204() -> None:
    async with served() as web:
        await web.start(route("platform-http:/nothing", "setBody: {constant: ' '}"))
        assert (await web.ask("GET", "/nothing")).status == 204


async def test_a_failed_exchange_is_answered_with_500_and_without_reasons() -> None:
    async with served() as web:
        await web.start(route("platform-http:/bad", "to: direct:nobody"))
        answer = await web.ask("GET", "/bad")
        assert (answer.status, answer.body) == (500, b"")


async def test_the_reason_is_answered_when_the_flow_says_so() -> None:
    async with served() as web:
        await web.start(route("platform-http:/bad?muteException=false", "to: direct:nobody"))
        assert (await web.ask("GET", "/bad")).text == "no route of this flow begins with 'direct:nobody'"


async def test_nobody_can_set_camels_own_headers_from_outside() -> None:
    async with served() as web:
        await web.start(route("platform-http:/in", "setBody: {simple: '<${header.CamelFileName}>'}"))
        answer = await web.ask("GET", "/in?CamelFileName=evil", headers={"camelfilename": "evil"})
        assert answer.text == "<>"
        assert "CamelHttpPath" not in answer.headers


async def test_a_header_cannot_smuggle_in_another() -> None:
    async with served() as web:
        await web.start(route("platform-http:/in", "setHeader: {name: X-Given, simple: '${header.q}'}", "log: on"))
        answer = await web.ask("GET", "/in?q=a%0D%0ASet-Cookie:%20b")
        assert answer.headers["X-Given"] == "a  Set-Cookie: b"
        assert "Set-Cookie" not in answer.headers


async def test_a_path_that_no_flow_serves_is_not_found() -> None:
    async with served() as web:
        await web.start(route("platform-http:/there", "log: on"))
        answer = await web.ask("GET", "/elsewhere")
        assert (answer.status, answer.headers["Content-Type"]) == (404, "application/problem+json")
        assert "Nothing is served at /elsewhere" in answer.text


async def test_a_method_that_is_not_served_is_answered_with_those_that_are() -> None:
    async with served() as web:
        await web.start(route("platform-http:/there?httpMethodRestrict=GET,PUT", "log: on"))
        answer = await web.ask("POST", "/there", data="x")
        assert (answer.status, answer.headers["Allow"]) == (405, "GET, PUT")


async def test_exact_paths_come_before_parameters_and_those_before_prefixes() -> None:
    async with served() as web:
        await web.start(
            route("platform-http:/a?matchOnUriPrefix=true", "setBody: {constant: prefix}"),
            route("platform-http:/a/{id}", "setBody: {constant: parameter}"),
            route("platform-http:/a/b", "setBody: {constant: exact}"),
        )
        assert [(await web.ask("GET", path)).text for path in ("/a/b", "/a/c", "/a/c/d")] == [
            "exact",
            "parameter",
            "prefix",
        ]


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_over_the_limit_is_refused(chunked: bool) -> None:
    async with served(most=1000) as web:
        await web.start(route("platform-http:/small", "log: got"))
        content = b"x" * 2000

        async def chunks() -> AsyncIterator[bytes]:
            yield content

        answer = await web.ask("POST", "/small", data=chunks() if chunked else content)
        assert answer.status == 413
        assert web.running.listener.messages == []


async def test_media_types_that_are_not_taken_or_given_are_refused() -> None:
    async with served() as web:
        await web.start(route("platform-http:/json?consumes=application/json&produces=application/json", "log: on"))
        wrong = await web.ask("POST", "/json", data="x", headers={"Content-Type": "text/plain"})
        unwanted = await web.ask("GET", "/json", headers={"Accept": "text/html"})
        right = await web.ask("POST", "/json", data="{}", headers={"Content-Type": "application/json; charset=utf-8"})
        assert (wrong.status, unwanted.status, right.status) == (415, 406, 200)


async def test_two_flows_cannot_have_the_same_path_and_method() -> None:
    async with served() as web:
        await web.start(route("platform-http:/mine/{a}?httpMethodRestrict=GET", "log: on"), name="first")
        await web.start(route("platform-http:/mine/{a}?httpMethodRestrict=POST", "log: on"), name="second")
        with pytest.raises(HttpServerFailed, match=r"/mine/\{b\} \(GET\) is served already, by flow 'first'"):
            await web.start(route("platform-http:/mine/{b}?httpMethodRestrict=GET,PUT", "log: on"), name="third")
        assert web.running.engine.names() == ["first", "second"]


async def test_a_new_version_takes_the_path_over() -> None:
    async with served() as web:
        await web.start(route("platform-http:/v", "setBody: {constant: old}"))
        await web.start(route("platform-http:/v", "setBody: {constant: new}"), version="2")
        assert (await web.ask("GET", "/v")).text == "new"


async def test_a_version_that_does_not_start_leaves_the_path_to_the_old_one() -> None:
    async with served() as web:
        await web.start(route("platform-http:/other", "log: on"), name="other")
        await web.start(route("platform-http:/v", "setBody: {constant: old}"))
        with pytest.raises(HttpServerFailed):
            await web.start(
                route("platform-http:/v", "setBody: {constant: new}"), route("platform-http:/other", "log: on")
            )
        assert (await web.ask("GET", "/v")).text == "old"


async def test_a_request_in_flight_is_answered_when_the_flow_stops_and_the_next_is_not_found() -> None:
    async with served() as web:
        await web.start(route("platform-http:/slow", SLOW, "setBody: {constant: done}"))
        asking = asyncio.create_task(web.ask("GET", "/slow"))
        await eventually(lambda: bool(web.running.listener.started))
        await web.running.engine.stop("web", GRACE)
        assert (await asking).text == "done"
        assert (await web.ask("GET", "/slow")).status == 404


async def test_a_request_that_outlasts_the_grace_is_told_so() -> None:
    async with served() as web:
        await web.start(route("platform-http:/slow", "to: {uri: exec:sleep, parameters: {args: ['600']}}"))
        asking = asyncio.create_task(web.ask("GET", "/slow"))
        await eventually(lambda: bool(web.running.listener.started))
        await web.running.engine.stop("web", timedelta())
        assert (await asking).status == 503


async def test_a_sender_to_seda_is_answered_by_the_other_route() -> None:
    async with served() as web:
        await web.start(
            route("platform-http:/ask", "to: seda:worker"), route("seda:worker", "setBody: {constant: answered}")
        )
        assert (await web.ask("GET", "/ask")).text == "answered"


async def test_without_a_server_the_flow_does_not_start_and_says_which_setting_is_meant() -> None:
    async with running_engine() as running:
        with pytest.raises(HttpServerFailed, match="PENSTOCK_AGENT_HTTP_PORT"):
            await running.start("web", route("platform-http:/a", "log: on"))


async def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with running_engine(reach=Reach(http_port=port)) as running:
            with pytest.raises(HttpServerFailed, match=f"cannot listen on 127.0.0.1 port {port}"):
                await running.start("web", route("platform-http:/a", "log: on"))
