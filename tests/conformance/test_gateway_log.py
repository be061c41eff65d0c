"""The access log that a real Envoy writes: begun anew under calls, free of secrets."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from penstock.gateway.access_log import AccessLog, Place
from penstock.gateway.logged_call import LoggedCall
from tests.conformance.running_gateway import KEY, PATH, Served, served, subscription, version
from tests.http_sink import http_sink


class Log:
    """What has been read of the log so far. largest: bytes at which a new file is begun."""

    def __init__(self, gateway: Served, largest: int) -> None:
        self.path = gateway.gateway.access_log
        self._log = AccessLog(self.path, gateway.gateway.reopen_log, largest)
        self._place = Place()
        self.calls: list[LoggedCall] = []

    async def read(self, count: int) -> list[LoggedCall]:
        """The calls, once there are so many and nothing is left of an old file."""
        old = self.path.with_name("access.log.old")
        async with asyncio.timeout(30):
            while len(self.calls) < count or old.exists():
                await self.step()
                await asyncio.sleep(0.01)
        return self.calls

    async def step(self) -> None:
        """Reads on to the end, and begins anew where it is time."""
        more = True
        while more:
            read = self._log.read(self._place)
            more, self._place = read.more, read.place
            self.calls += read.calls
            self._log.forget_old(self._place)
        await self._log.rotate()


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Served]:
    async with http_sink() as upstream, served(tmp_path / "envoy") as running:
        await running.apply([version(upstream.port)], [subscription("acme", KEY["X-API-Key"])])
        yield running


async def test_every_call_is_read_once_however_often_the_log_is_begun_anew(gateway: Served) -> None:
    log = Log(gateway, largest=1000)
    for number in range(200):
        assert await gateway.status(f"{PATH}/{number}", KEY) == 204
        if number % 7 == 0:
            await log.step()
    calls = await log.read(200)
    assert sorted(calls_paths(calls)) == sorted(f"{PATH}/{number}" for number in range(200))
    assert {str(call.route) for call in calls} == {"orders/v1/acme"}


async def test_an_envoy_that_is_killed_costs_no_call_that_came_before(gateway: Served) -> None:
    log = Log(gateway, largest=10**6)
    made = 0
    for _ in range(3):
        for _ in range(10):
            assert await gateway.status(PATH, KEY) == 204
        made += 10
        await log.read(made)
        assert gateway.gateway.pid is not None
        os.kill(gateway.gateway.pid, signal.SIGKILL)
        await back(gateway)
        made += 1
    assert len(await log.read(made)) == made


async def test_the_log_shows_no_keys_and_no_queries(gateway: Served) -> None:
    log = Log(gateway, largest=10**6)
    await gateway.get(f"{PATH}/things?token=hidden", {**KEY, "Cookie": "hidden", "User-Agent": "hidden"})
    await gateway.get(f"{PATH}/things?token=hidden", {"Authorization": "ApiKey hidden"})
    await gateway.get("/nobody/serves/this?token=hidden")
    shown, refused, unknown = await log.read(3)
    text = log.path.read_text()
    assert KEY["X-API-Key"] not in text
    assert "hidden" not in text
    assert (shown.path, shown.status, shown.method, shown.client) == (f"{PATH}/things", 204, "GET", "127.0.0.1")
    assert (refused.route, refused.status) == ("orders/v1/", 401)
    assert (unknown.path, unknown.status) == ("/nobody/serves/this", 404)


def calls_paths(calls: list[LoggedCall]) -> list[str]:
    return [call.path or "" for call in calls]


async def back(gateway: Served) -> None:
    """Returns with the first call that is answered again."""
    async with asyncio.timeout(30):
        while True:
            try:
                assert await gateway.status(PATH, KEY) == 204
            except httpx.TransportError:
                await asyncio.sleep(0.02)
            else:
                return
