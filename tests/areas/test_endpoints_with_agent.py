"""Endpoints on a real agent: hosted, called, killed, changed, given up."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import httpx
import psutil
import pytest

from tests.api_packages import FICKLE, fickle_wheel
from tests.application import Application
from tests.areas.hosting import (
    FAILED,
    READY,
    UNHEALTHY,
    HostingAgent,
    becomes,
    hosting_agent,
    make_endpoint,
    moves_of,
    register,
    running_shop,
    standing,
)
from tests.areas.waiting import until

HOST = "host-one"


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hosting")


@pytest.fixture(scope="module")
async def shop(place: Path) -> AsyncIterator[Application]:
    async with running_shop(place) as running:
        for package in ("acme-fickle", "penstock-api-sql", "penstock-api-proxy"):
            _, installation = await register(running, package)
            assert installation["Status"] == 1, installation
        yield running


@pytest.fixture(scope="module")
async def agent(shop: Application, place: Path) -> AsyncIterator[HostingAgent]:
    async with hosting_agent(shop, place / "one", HOST) as running:
        yield running


@pytest.fixture
def name() -> str:
    return f"e{uuid4().hex[:10]}"


@pytest.fixture
async def caller(agent: HostingAgent) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=agent.address, timeout=20) as client:
        yield client


async def test_requests_reach_the_api_below_its_route(
    shop: Application, agent: HostingAgent, caller: httpx.AsyncClient, name: str
) -> None:
    await becomes(shop, await make_endpoint(shop, name, "fickle", {"colour": "red"}, HOST), READY)
    headers = {"X-Mine": "a", "Connection": "keep-alive, X-Secret", "X-Secret": "b"}
    answer = await caller.post(f"/{name}/deep%20er?x=1&y=%2F", headers=headers, content=b"z" * 200_000)
    seen = answer.json()
    assert (seen["path"], seen["root"], seen["query"]) == (f"/{name}/deep er", f"/{name}", "x=1&y=%2F")
    assert (seen["bytes"], seen["headers"]["x-mine"]) == (200_000, "a")
    assert "x-secret" not in seen["headers"]
    assert "x-hop" not in answer.headers
    assert not [each for each in seen["environment"] if each.startswith("PENSTOCK") and each != "PENSTOCK_AGENT_RUN"]
    assert (await caller.get(f"/{name}/stream")).text == "01234"
    assert (await caller.get(f"/{name}er")).status_code == 404


async def test_a_database_is_a_rest_api(
    shop: Application, agent: HostingAgent, caller: httpx.AsyncClient, name: str, place: Path
) -> None:
    with sqlite3.connect(place / f"{name}.db") as database:
        database.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT NOT NULL, price REAL)")
        database.execute("INSERT INTO orders VALUES (1, 'ada', 2.5), (2, 'bob', 3.5)")
    database.close()
    configuration = {"url": f"sqlite:///{place / name}.db", "writable": True}
    endpoint = await make_endpoint(shop, name, "sql", configuration, HOST)
    await becomes(shop, endpoint, READY)
    assert "sqlite" not in endpoint["JsonConfiguration"]
    assert (await caller.get(f"/{name}/orders", params={"customer": "bob"})).json() == [
        {"id": 2, "customer": "bob", "price": 3.5}
    ]
    made = await caller.post(f"/{name}/orders", json={"customer": "cy", "price": 1})
    assert (made.status_code, made.json()["id"]) == (201, 3)
    assert (await caller.patch(f"/{name}/orders/3", json={"price": 9})).json()["price"] == 9
    assert (await caller.delete(f"/{name}/orders/3")).status_code == 204
    assert (await caller.get(f"/{name}/orders/3")).status_code == 404
    assert (await caller.get(f"/{name}/orders", params={"colour": "red"})).status_code == 400
    assert (await caller.post(f"/{name}/orders", json={"price": 1})).status_code == 409
    operations = (await shop.reader.get(f"/schema/endpoint/operations/{endpoint['Id']}")).json()
    assert {each["OperationId"] for each in operations} >= {"list_orders", "add_orders", "remove_orders"}
    external = await shop.reader.get(f"/schema/endpoint/schema/{endpoint['Id']}", params={"externalHostName": "true"})
    assert f'"url":"{agent.address}/{name}"' in external.json()


async def test_a_described_api_is_passed_on(
    shop: Application, agent: HostingAgent, caller: httpx.AsyncClient, name: str
) -> None:
    behind = f"b{name}"
    await becomes(shop, await make_endpoint(shop, behind, "fickle", {"colour": "red"}, HOST), READY)
    document = {"openapi": "3.1.0", "paths": {"/lamps/{id}": {"get": {"operationId": "lamp"}}}}
    configuration = {
        "document": document,
        "address": f"{agent.address}/{behind}",
        "headers": {"Authorization": "Bearer hidden"},
    }
    await becomes(shop, await make_endpoint(shop, name, "proxy", configuration, HOST), READY)
    seen = (await caller.get(f"/{name}/lamps/7?on=1")).json()
    assert (seen["path"], seen["query"]) == (f"/{behind}/lamps/7", "on=1")
    assert seen["headers"]["authorization"] == "Bearer hidden"
    assert (await caller.post(f"/{name}/lamps/7")).status_code == 405
    assert (await caller.get(f"/{name}/elsewhere")).status_code == 404


async def test_a_killed_process_is_started_again(shop: Application, caller: httpx.AsyncClient, name: str) -> None:
    endpoint = await make_endpoint(shop, name, "fickle", {"colour": "red"}, HOST)
    await becomes(shop, endpoint, READY)
    first = (await caller.get(f"/{name}")).json()["pid"]
    os.kill(first, signal.SIGKILL)

    async def anew() -> bool:
        answer = await caller.get(f"/{name}")
        assert answer.status_code in (200, 502, 503)
        return answer.status_code == 200 and answer.json()["pid"] != first

    assert await until(anew)

    async def told() -> bool:
        found = await standing(shop, endpoint)
        return found is not None and moves_of(found)[-3:] == ["Unhealthy", "Initializing", "Ready"]

    assert await until(told)
    found = await standing(shop, endpoint)
    assert found is not None
    assert "signal 9" in next(each["Message"] for each in found["StatusUpdates"] if each["NewStatus"] == "Unhealthy")


async def test_an_answer_that_breaks_off_does_not_look_whole(
    shop: Application, caller: httpx.AsyncClient, name: str
) -> None:
    await becomes(shop, await make_endpoint(shop, name, "fickle", {"colour": "red"}, HOST), READY)
    with pytest.raises(httpx.RemoteProtocolError):
        await caller.get(f"/{name}/break")


async def test_a_health_probe_moves_it_to_and_fro(shop: Application, caller: httpx.AsyncClient, name: str) -> None:
    endpoint = await make_endpoint(shop, name, "fickle", {"colour": "red"}, HOST)
    await becomes(shop, endpoint, READY)
    await caller.get(f"/{name}/flap")
    found = await becomes(shop, endpoint, UNHEALTHY)
    assert found["StatusUpdates"][-1]["Message"] == "/health answers 503"
    assert (await caller.get(f"/{name}")).status_code == 200
    await caller.get(f"/{name}/flap")
    assert moves_of(await becomes(shop, endpoint, READY)) == ["Initializing", "Ready", "Unhealthy", "Ready"]


@pytest.mark.parametrize(
    ("failure", "reason"),
    [("factory", "RuntimeError: cannot be made with"), ("startup", "no database"), ("exit", "ended with 3")],
)
async def test_what_cannot_start_is_given_up_and_tried_again_when_asked(
    shop: Application, caller: httpx.AsyncClient, name: str, failure: str, reason: str
) -> None:
    endpoint = await make_endpoint(shop, name, "fickle", {"colour": "red", "fail": failure, "token": "zq81"}, HOST)
    found = await becomes(shop, endpoint, FAILED)
    assert moves_of(found) == [*["Initializing", "InitializingFailed"] * 3, "Failed"]
    assert reason in found["StatusUpdates"][-1]["Message"]
    assert "zq81" not in str(found)
    refused = await caller.get(f"/{name}")
    assert (refused.status_code, refused.headers["content-type"]) == (503, "application/problem+json")
    assert (await shop.operator.get("/integrations/endpoint/agents/update")).status_code == 200

    async def again() -> bool:
        found = await standing(shop, endpoint)
        return found is not None and moves_of(found).count("Failed") == 2

    assert await until(again)
    changed = {**endpoint, "JsonConfiguration": '{"colour": "red"}', "ETag": None}
    assert (await shop.operator.put("/integrations/endpoint", json=changed)).status_code == 200
    assert moves_of(await becomes(shop, endpoint, READY))[-3:] == ["Changed", "Initializing", "Ready"]


async def test_variables_and_secrets_reach_the_api_and_nothing_else(
    shop: Application, agent: HostingAgent, caller: httpx.AsyncClient, name: str
) -> None:
    secret = f"s3cret-{name}"
    document = {
        "apiVersion": "penstock/v1alpha1",
        "kind": "Variable",
        "metadata": {"name": name},
        "spec": {"value": secret, "isSecret": True},
    }
    assert (await shop.apply(document)).status_code == 202
    configuration = {"colour": "green", "token": f"{{{{var:{name}}}}}"}
    endpoint = await make_endpoint(shop, name, "fickle", configuration, HOST)
    found = await becomes(shop, endpoint, READY)
    assert (await caller.get(f"/{name}")).json()["configuration"]["token"] == secret

    async def logged() -> bool:
        return "made with ******" in agent.log

    await until(logged)
    assert secret not in agent.log
    assert secret not in found["Configuration"]


async def test_the_next_version_of_a_package_takes_over(
    shop: Application, caller: httpx.AsyncClient, place: Path, name: str
) -> None:
    fickle_wheel(place / "wheels", "5.0.0", FICKLE.replace('"1.0"', '"five"'))
    fickle_wheel(place / "wheels", "5.0.1", FICKLE.replace('"1.0"', '"five"').replace('"path": scope', '"new": scope'))
    await register(shop, "acme-fickle", "5.0.0")
    endpoint = await make_endpoint(shop, name, "fickle", {"colour": "red"}, HOST, ApiVersion="five")
    await becomes(shop, endpoint, READY)
    assert "path" in (await caller.get(f"/{name}")).json()
    await register(shop, "acme-fickle", "5.0.1")

    async def taken_over() -> bool:
        answer = await caller.get(f"/{name}")
        return answer.status_code == 200 and "new" in answer.json()

    assert await until(taken_over)


async def test_a_removed_one_is_served_no_more(shop: Application, caller: httpx.AsyncClient, name: str) -> None:
    endpoint = await make_endpoint(shop, name, "fickle", {"colour": "red"}, HOST)
    await becomes(shop, endpoint, READY)
    pid = (await caller.get(f"/{name}")).json()["pid"]
    assert (await shop.operator.delete(f"/integrations/endpoint/{endpoint['Id']}")).status_code == 200

    async def gone() -> bool:
        return (await caller.get(f"/{name}")).status_code == 404 and not psutil.pid_exists(pid)

    assert await until(gone)


async def test_an_agent_tells_how_its_endpoints_stand_together(shop: Application, place: Path, name: str) -> None:
    async with hosting_agent(shop, place / name, name) as other:
        good = await make_endpoint(shop, f"g{name}", "fickle", {"colour": "red"}, name)
        path = f"/agents/{(await becomes(shop, good, READY))['AgentId']}"

        async def together() -> int:
            return int((await shop.reader.get(path)).json()["IntegrationStatus"])

        assert await until(lambda: _is(together, 2))
        bad = await make_endpoint(shop, f"f{name}", "fickle", {"colour": "red", "fail": "factory"}, name)
        await becomes(shop, bad, FAILED)
        assert await until(lambda: _is(together, 3))
        assert (await shop.reader.get(path)).json()["BaseAddress"] == other.address
        history = (await shop.reader.get(f"{path}/history", params={"limit": 1})).json()
        ping = history[0]["StatusUpdate"]
        assert {each["EndpointName"] for each in ping["Endpoints"]} == {good["Name"], bad["Name"]}
        assert ping["AvailableApis"] == [{"ApiName": "fickle", "ApiVersion": "1.0"}]


async def test_killing_the_agent_ends_its_apis_and_a_restart_runs_them_again(
    shop: Application, place: Path, name: str
) -> None:
    async with hosting_agent(shop, place / name, name) as other:
        endpoint = await make_endpoint(shop, name, "fickle", {"colour": "red", "token": "sealed"}, name)
        await becomes(shop, endpoint, READY)
        async with httpx.AsyncClient(base_url=other.address) as caller:
            pid = (await caller.get(f"/{name}")).json()["pid"]
            sockets = list(other.folder.glob("agent/.api-sockets-*/*.sock"))
            assert len(sockets) == 1
            other.process.kill()
            await other.process.wait()
            assert await until(lambda: _is(lambda: asyncio.to_thread(psutil.pid_exists, pid), False))
            await other.start()

            async def back() -> bool:
                try:
                    answer = await caller.get(f"/{name}")
                except httpx.TransportError:
                    return False
                return answer.status_code == 200 and answer.json()["configuration"]["token"] == "sealed"

            assert await until(back)
            assert len(list(other.folder.glob("agent/.api-sockets-*"))) == 1
            assert not sockets[0].exists()
        await other.end()
        assert list(other.folder.glob("agent/.api-sockets-*")) == []


async def test_an_address_that_others_reach_needs_a_key(shop: Application, place: Path, name: str) -> None:
    async with hosting_agent(shop, place / name, name, HTTP_HOST="0.0.0.0"):
        endpoint = await make_endpoint(shop, name, "fickle", {"colour": "red"}, name)
        found = await becomes(shop, endpoint, FAILED)
        assert "PENSTOCK_AGENT_ENDPOINT_KEY" in found["StatusUpdates"][-1]["Message"]
    keyed = f"k{name}"
    async with hosting_agent(shop, place / keyed, keyed, HTTP_HOST="0.0.0.0", ENDPOINT_KEY="key-of-tests") as other:
        await becomes(shop, await make_endpoint(shop, keyed, "fickle", {"colour": "red"}, keyed), READY)
        async with httpx.AsyncClient(base_url=other.address) as caller:
            assert (await caller.get(f"/{keyed}")).status_code == 401
            answer = await caller.get(f"/{keyed}", headers={"X-Endpoint-Key": "key-of-tests"})
            assert "x-endpoint-key" not in answer.json()["headers"]


async def _is(read, wanted) -> bool:  # type: ignore[no-untyped-def]
    return bool(await read() == wanted)
