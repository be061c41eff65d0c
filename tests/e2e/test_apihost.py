"""`penstock apihost` as a program: told over HTTP what to host, without a server, a bus or a database."""

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import psutil
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from penstock.resource.operation import operations_of
from penstock.server.apihost.http import AdminOperations
from tests.api_packages import free_port, package_index
from tests.areas.waiting import until
from tests.golden.contract import read_contract

KEY = "a key for these tests"


class Component:
    """The running program, and a caller with its key."""

    def __init__(self, process: asyncio.subprocess.Process, client: httpx.AsyncClient) -> None:
        self.process = process
        self.client = client

    async def add(self, feed: str, package: str, **query: str) -> httpx.Response:
        query = {"packageName": package, "feedUrl": feed, **query}
        headers = {"Accept": "application/octet-stream"}
        return await self.client.put("/admin/api/apis", params=query, json={}, headers=headers)

    async def create(self, route: str, api: str, version: str | None, configuration: Any) -> httpx.Response:
        body = {"Api": {"Name": api, "Version": version}, "Route": route, "JsonConfiguration": configuration}
        return await self.client.post("/admin/api/Endpoints", json=body)

    async def initialize(self, route: str) -> httpx.Response:
        return await self.client.post(f"/admin/api/Endpoints/{quote(route, safe='')}/initialize", json={})

    async def status(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self.client.get("/admin/api/status")).raise_for_status().json()
        return found


@asynccontextmanager
async def component(folder: Path, **settings: str) -> AsyncIterator[Component]:
    port = free_port()
    values = {"PORT": str(port), "KEY": KEY, "FOLDER": str(folder), "RETRY_SECONDS": "0.1", **settings}
    environment = {f"PENSTOCK_APIHOST_{name}": value for name, value in values.items()}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "penstock.cli.main", "apihost", env={**os.environ, **environment}, stderr=-3
    )
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers={"X-API-Key": KEY}, timeout=60) as client:

        async def answers() -> bool:
            try:
                return (await client.get("/admin/api/status")).is_success
            except httpx.TransportError:
                return False

        try:
            await until(answers)
            yield Component(process, client)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package_index(tmp_path_factory.mktemp("wheels") / "index")


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> AsyncIterator[Component]:
    cache = str(tmp_path_factory.mktemp("cache"))
    os.environ["UV_CACHE_DIR"] = cache
    try:
        async with component(tmp_path_factory.mktemp("apihost")) as started:
            for package in ("acme-fickle", "penstock-api-sql"):
                assert (await started.add(f"file://{wheels}", package)).status_code == 200
            yield started
    finally:
        del os.environ["UV_CACHE_DIR"]


async def test_a_database_is_hosted_by_three_requests(running: Component, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "lamps.db") as database:
        database.execute("CREATE TABLE lamps (id INTEGER PRIMARY KEY, watts INTEGER)")
        database.execute("INSERT INTO lamps VALUES (1, 40)")
    database.close()
    made = await running.create("/lamps/v1", "sql", "1.0.0.0", {"url": f"sqlite:///{tmp_path}/lamps.db"})
    assert (made.status_code, made.json()["Status"]) == (200, "New")
    assert made.headers["content-type"] == "application/octet-stream"
    assert str(tmp_path) not in made.text
    assert (await running.client.get("/lamps/v1/lamps")).status_code == 503
    ready = await running.initialize("/lamps/v1")
    assert (ready.status_code, ready.json()["Status"]) == (200, "Ready")
    answer = await running.client.get("/lamps/v1/lamps", headers={"X-API-Key": ""})
    assert answer.json() == [{"id": 1, "watts": 40}]
    status = await running.status()
    assert status["SystemStatus"] in ("Running", "PartiallyRunning", "Changed")
    assert {each["Name"] for each in status["Apis"]} == {"fickle", "sql"}
    assert (await running.client.get("/admin/api/apis")).json() == status["Apis"]
    listed = (await running.client.get("/admin/api/endpoints")).json()
    assert "/lamps/v1" in [each["Route"] for each in listed]
    assert (await running.client.delete("/admin/api/endpoints", params={"route": "/lamps/v1"})).status_code == 200
    assert (await running.client.get("/lamps/v1/lamps")).status_code == 404


async def test_requests_and_answers_are_passed_on_as_streams(running: Component) -> None:
    assert (await running.create("/fickle", "FICKLE", None, {"colour": "red"})).status_code == 200
    assert (await running.initialize("/fickle")).json()["Status"] == "Ready"
    seen = (await running.client.post("/fickle/a%20b?x=%2F", content=b"z" * 300_000)).json()
    assert (seen["path"], seen["root"], seen["query"], seen["bytes"]) == ("/fickle/a b", "/fickle", "x=%2F", 300_000)
    assert (await running.client.get("/fickle/stream")).text == "01234"
    assert not [each for each in seen["environment"] if each.startswith("PENSTOCK_APIHOST")]
    with pytest.raises(httpx.RemoteProtocolError):
        await running.client.get("/fickle/break")
    again = await running.initialize("/fickle")
    assert again.json()["Status"] == "Ready"


async def test_websockets_and_events_are_passed_on(running: Component) -> None:
    assert (await running.create("/talk", "fickle", None, {"colour": "red"})).status_code == 200
    assert (await running.initialize("/talk")).json()["Status"] == "Ready"
    address = str(running.client.base_url.join("/talk/a")).replace("http://", "ws://")
    async with connect(address) as socket:
        assert '"path": "/talk/a"' in str(await socket.recv())
        await socket.send("said")
        assert await socket.recv() == "said"
        async with running.client.stream("GET", "/talk/events") as events:
            lines = events.aiter_lines()
            assert await anext(lines) == "data: 0"
            await running.client.get("/talk/tick")
            assert [await anext(lines) for _ in range(2)] == ["", "data: 1"]
        assert (await running.client.delete("/admin/api/endpoints", params={"route": "/talk"})).status_code == 200
        with pytest.raises(ConnectionClosed):
            await socket.recv()


async def test_operations_and_endpoints_share_a_connection(running: Component) -> None:
    assert (await running.create("/shared", "fickle", None, {"colour": "red"})).status_code == 200
    await running.initialize("/shared")
    async with httpx.AsyncClient(
        base_url=running.client.base_url, headers=running.client.headers, limits=httpx.Limits(max_connections=1)
    ) as client:
        for _ in range(3):
            assert (await client.get("/admin/api/status")).status_code == 200
            assert (await client.post("/shared/x", content=b"z" * 100_000)).json()["bytes"] == 100_000
            assert (await client.get("/nothing")).status_code == 404


async def test_what_cannot_run_says_why(running: Component) -> None:
    assert (await running.create("/bad", "fickle", "1.0", {"colour": "red", "fail": "startup"})).status_code == 200
    answer = (await running.initialize("/bad")).json()
    assert answer["Status"] in ("InitializingFailed", "Failed")
    assert "no database" in answer["StatusUpdates"][-1]["Message"]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"Route": "/x1", "Api": {"Name": "nothing"}}, 404, None),
        ({"Route": "/x2", "Api": {"Name": "fickle", "Version": "9.9.0.0"}}, 404, None),
        ({"Route": "/x3", "Api": {"Name": "fickle"}, "JsonConfiguration": {}}, 400, "JsonConfiguration.colour"),
        (
            {"Route": "/x4", "Api": {"Name": "fickle"}, "JsonConfiguration": {"colour": "red", "x": 1}},
            400,
            "JsonConfiguration.x",
        ),
        ({"Route": "x5", "Api": {"Name": "fickle"}}, 400, "Route"),
        ({"Route": "/admin/mine", "Api": {"Name": "fickle"}}, 400, "Route"),
        ({"Route": "/x6"}, 400, "Api.Name"),
    ],
)
async def test_wrong_endpoints_are_refused(
    running: Component, body: dict[str, Any], status: int, field: str | None
) -> None:
    answer = await running.client.post("/admin/api/Endpoints", json=body)
    assert answer.status_code == status, answer.text
    if field is not None:
        assert field in {error["field"] for error in answer.json()["errors"]}


async def test_a_taken_route_is_a_conflict(running: Component) -> None:
    assert (await running.create("/twice", "fickle", None, {"colour": "red"})).status_code == 200
    assert (await running.create("/twice", "fickle", None, {"colour": "red"})).status_code == 409


async def test_packages_that_cannot_be_added_say_why(running: Component, wheels: Path) -> None:
    unknown = await running.add(f"file://{wheels}", "no-such-package")
    assert unknown.status_code == 400
    assert "no-such-package" in unknown.text
    assert "has no APIs" in (await running.add(f"file://{wheels}", "acme-plain")).text
    assert (await running.add("gopher://x", "acme-plain")).json()["errors"][0]["field"] == "feedUrl"
    assert (await running.add(f"file://{wheels}", "../x")).json()["errors"][0]["field"] == "packageName"


async def test_everything_below_admin_needs_the_key(running: Component) -> None:
    for method, path in (("GET", "/admin/api/status"), ("PUT", "/admin/api/apis"), ("POST", "/admin/api/Endpoints")):
        for headers in ({"X-API-Key": ""}, {"X-API-Key": "wrong"}, {"X-API-Key": "", "Authorization": "Bearer wrong"}):
            assert (await running.client.request(method, path, headers=headers)).status_code == 401


async def test_killing_it_ends_its_apis(tmp_path: Path, wheels: Path) -> None:
    async with component(tmp_path) as other:
        await other.add(f"file://{wheels}", "acme-fickle")
        await other.create("/a", "fickle", None, {"colour": "red"})
        await other.initialize("/a")
        pid = (await other.client.get("/a")).json()["pid"]
        os.kill(other.process.pid, signal.SIGKILL)
        await other.process.wait()

        async def ended() -> bool:
            return not psutil.pid_exists(pid)

        assert await until(ended)
    left = list(tmp_path.glob(".api-sockets-*"))
    async with component(tmp_path):
        found = list(tmp_path.glob(".api-sockets-*"))
        assert (len(left), len(found), left == found) == (1, 1, False)
    assert list(tmp_path.glob(".api-sockets-*")) == []


async def test_it_does_not_open_endpoints_to_others_unasked(tmp_path: Path) -> None:
    environment = {"PENSTOCK_APIHOST_HOST": "0.0.0.0", "PENSTOCK_APIHOST_FOLDER": str(tmp_path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "penstock.cli.main", "apihost", env={**os.environ, **environment}, stderr=-1
    )
    _, said = await process.communicate()
    assert (process.returncode, b"PENSTOCK_APIHOST_ENDPOINT_KEY" in said) == (2, True)


def test_it_has_every_published_operation() -> None:
    declared = {
        (each.declaration.method, each.declaration.path): each.declaration.beyond
        for each in operations_of("apihost", AdminOperations.__new__(AdminOperations))
    }
    published = {key for key in read_contract().operations if key[1].startswith("/admin/")}
    assert {key for key, beyond in declared.items() if not beyond} == published
