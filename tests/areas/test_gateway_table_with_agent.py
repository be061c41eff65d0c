"""Versions that agents' endpoints serve: hosts come and go in the table as endpoints and agents do."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.protocol.gateway import GatewayHost
from tests.application import Application
from tests.areas.gateway_tables import TableWatch, watched_table
from tests.areas.hosting import HostingAgent, hosting_agent, make_endpoint, register, running_shop
from tests.areas.published import new_api, new_version, post_version, refused

HOST = "host-one"


@pytest.fixture(scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hosting")


@pytest.fixture(scope="module")
async def shop(place: Path) -> AsyncIterator[Application]:
    async with running_shop(place) as running:
        _, installation = await register(running, "acme-fickle")
        assert installation["Status"] == 1, installation
        yield running


@pytest.fixture
async def watch(shop: Application, name: str) -> AsyncIterator[TableWatch]:
    async with watched_table(shop, f"edge-{name}") as watched:
        yield watched


@pytest.fixture
def name() -> str:
    return f"e{uuid4().hex[:10]}"


def host_of(agent: HostingAgent) -> GatewayHost:
    return GatewayHost(host="127.0.0.1", port=agent.port)


def hosts(table: TableWatch, api: str) -> list[GatewayHost] | None:
    version = table.version(f"{api}/v1")
    return version.upstream.hosts if version is not None else None


async def test_every_agent_that_has_it_ready_is_a_host_and_one_that_ends_is_none(
    shop: Application, watch: TableWatch, place: Path, name: str
) -> None:
    endpoint = await make_endpoint(shop, name, "fickle", {"colour": "red"}, HOST)
    await new_api(shop, name)
    assert refused(await post_version(shop, name, Type="endpoint", Parameters={"Endpoint": f"/{name}x"})) == {
        "Parameters.Endpoint"
    }
    await new_version(shop, name, Type="endpoint", Parameters={"Endpoint": f"/{name.upper()}"})
    assert await watch.becomes(lambda table: hosts(table, name) == [])
    async with hosting_agent(shop, place / f"{name}-one", f"{name}-one", CAPABILITIES=f"Host={HOST}") as first:
        await watch.becomes(lambda table: hosts(table, name) == [host_of(first)])
        found = watch.version(f"{name}/v1")
        assert found is not None
        assert (found.upstream.path, found.upstream.tls) == (f"/{name}", False)
        async with hosting_agent(shop, place / f"{name}-two", f"{name}-two", CAPABILITIES=f"Host={HOST}") as second:
            await watch.becomes(lambda table: len(hosts(table, name) or ()) == 2)
            second.process.kill()
            await watch.becomes(lambda table: hosts(table, name) == [host_of(first)])
        removed = await shop.operator.delete(f"/integrations/endpoint/{endpoint['Id']}")
        assert removed.is_success, removed.text
        await watch.becomes(lambda table: hosts(table, name) == [])


async def test_one_text_makes_the_endpoint_and_publishes_it(shop: Application, watch: TableWatch, name: str) -> None:
    endpoint = {"api": "fickle", "apiVersion": "1.0", "route": f"/{name}", "configuration": {"colour": "red"}}
    version = {"type": "endpoint", "parameters": {"endpoint": f"/{name}"}}
    text = [("ApiVersion", f"{name}/v1", version), ("Api", name, {}), ("IntegrationEndpoint", name, endpoint)]
    answer = await shop.apply(
        *(
            {"apiVersion": "penstock/v1alpha1", "kind": kind, "metadata": {"name": called}, "spec": spec}
            for kind, called, spec in text
        )
    )
    assert answer.status_code == 202, answer.text
    assert await watch.becomes(lambda table: hosts(table, name) == [])
