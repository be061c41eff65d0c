"""The gateway as a program, with real servers, a real bus and a real Envoy: every call counts once.

Calls of a test are made one after the other, so that whoever is killed has answered them all.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.application import Application, running_application
from tests.areas.faults import kill_bus
from tests.areas.waiting import until
from tests.gateway_program import GatewayProgram, PublishedApi, gateway_program
from tests.http_sink import HttpSink, http_sink


@pytest.fixture
def unique_name() -> str:
    """A name that no other test uses."""
    return f"n{uuid4().hex[:12]}"


@pytest.fixture(scope="module")
async def upstream() -> AsyncIterator[HttpSink]:
    async with http_sink() as sink:
        yield sink


@pytest.fixture(scope="module")
async def gateway(application: Application, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GatewayProgram]:
    async with gateway_program(application, tmp_path_factory.mktemp("gateway"), "shared") as program:
        await program.start()
        await program.ready()
        yield program


@pytest.fixture
async def api(application: Application, upstream: HttpSink, unique_name: str) -> PublishedApi:
    published = PublishedApi(application, unique_name, upstream)
    await published.publish()
    return published


async def standing(application: Application, gateway: str) -> list[dict[str, Any]]:
    found = (await application.reader.get("/apim/gateways")).json()
    return [each for each in found if each["Name"] == gateway and each["UpToDate"]]


async def test_calls_are_served_and_counted_for_who_made_them(
    application: Application, gateway: GatewayProgram, api: PublishedApi
) -> None:
    answered = await api.answers(gateway.address)
    for _ in range(5):
        assert await api.call(gateway.address) == 204
    refused = [await api.call(gateway.address, key="wrong") for _ in range(3)]
    assert refused == [401] * 3
    counted = await api.counted(answered + 5 + 3)
    assert counted[api.name] >= 6
    assert sum(counted.values()) == answered + 8
    [shown] = await until(lambda: standing(application, "shared"))
    assert (shown["Address"], shown["Online"], shown["Problem"]) == (gateway.address, True, None)


async def test_a_gateway_that_is_killed_loses_and_doubles_no_call(
    application: Application, tmp_path: Path, api: PublishedApi
) -> None:
    made = 0
    async with gateway_program(application, tmp_path, "killed") as program:
        for _ in range(3):
            await program.start()
            made += await api.answers(program.address)
            for _ in range(20):
                assert await api.call(program.address) == 204
                made += 1
            await program.logged(api.name, made)  # a line follows its answer by a moment
            await program.kill()
        await program.start()
        made += await api.answers(program.address)
        assert sum((await api.counted(made)).values()) == made
        assert await program.stop() == 0
    assert sum((await api.counted(made)).values()) == made


async def test_an_envoy_that_is_killed_is_started_again_with_the_same_keys(
    gateway: GatewayProgram, api: PublishedApi
) -> None:
    made = await api.answers(gateway.address)
    await gateway.logged(api.name, made)
    gateway.kill_envoy()
    made += await api.answers(gateway.address)
    assert sum((await api.counted(made)).values()) == made


async def test_calls_are_served_while_the_bus_is_killed_and_counted_after(
    application: Application, gateway: GatewayProgram, api: PublishedApi
) -> None:
    made = await api.answers(gateway.address)
    killing = asyncio.create_task(kill_bus(application))
    while not killing.done():
        assert await api.call(gateway.address) == 204
        made += 1
    await killing
    assert sum((await api.counted(made)).values()) == made


async def test_a_gateway_serves_what_it_has_while_the_servers_are_away(tmp_path: Path, upstream: HttpSink) -> None:
    name = "lasting"
    async with running_application(tmp_path / "server") as application:
        api = PublishedApi(application, name, upstream)
        await api.publish()
        async with gateway_program(application, tmp_path, "lonely") as program:
            await program.start()
            made = await api.answers(program.address)
            await program.kill()
            context = gateway_program(application, tmp_path, "lonely")
            lonely = await context.__aenter__()
    # Servers and bus are gone.
    try:
        await lonely.start()
        made += await api.answers(lonely.address)
        assert await api.call(lonely.address, key="wrong") == 401
        made += 1
        async with running_application(tmp_path / "server") as again:
            assert sum((await api.counted(made, again)).values()) == made
    finally:
        await context.__aexit__(None, None, None)


async def test_a_renewed_key_ends_at_its_time_with_nobody_there_to_say_so(tmp_path: Path, upstream: HttpSink) -> None:
    async with running_application(tmp_path / "server") as application:
        api = PublishedApi(application, "renewed", upstream)
        await api.publish()
        async with gateway_program(application, tmp_path, "alone") as program:
            await program.start()
            await api.answers(program.address)
            renewed = await application.admin.post(f"/apim/subscriptions/{api.name}/key", json={"Overlap": "00:00:03"})
            assert renewed.status_code == 200, renewed.text
            before, api.key = api.key, renewed.json()["Key"]
            await api.answers(program.address)
            assert await api.call(program.address, before) == 204
            nats = application.platform.nats
            assert nats is not None
            await nats.stop()
            await api.answers(program.address, status=401, key=before)
            assert await api.call(program.address) == 204


async def test_a_folder_is_one_gateways(application: Application, tmp_path: Path, gateway: GatewayProgram) -> None:
    ended = await gateway.attempt()
    assert (ended.code, "another gateway uses the folder" in ended.out) == (1, True)


async def test_bad_settings_are_told_and_end_it(application: Application, tmp_path: Path) -> None:
    async with gateway_program(application, tmp_path, "bad", PENSTOCK_GATEWAY_PORT="many") as program:
        ended = await program.attempt()
    assert (ended.code, "PENSTOCK_GATEWAY_PORT" in ended.out) == (2, True)
    async with gateway_program(application, tmp_path, "bad", PENSTOCK_GATEWAY_NATS_URL="") as program:
        ended = await program.attempt()
    assert (ended.code, "PENSTOCK_GATEWAY_NATS_URL: must be set" in ended.out) == (2, True)


async def test_credentials_of_something_else_are_refused(application: Application, tmp_path: Path) -> None:
    async with gateway_program(application, tmp_path, "other") as program:
        creds = tmp_path / "gateway.creds"
        creds.write_text("no credentials")
        ended = await program.attempt()
        assert (ended.code, "no file of credentials" in ended.out) == (2, True)
