"""What a gateway tells of its access log, whatever goes wrong while it does: each call once."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from penstock.gateway.access_log import AccessLog
from penstock.gateway.call_stream import CallStream
from penstock.gateway.logged_call import LoggedCall
from penstock.gateway.usage_file import UsageFile
from penstock.gateway.usage_reporter import UsageReporter
from penstock.kernel.clock import SystemClock
from tests.application import Application
from tests.areas.gateway_link import GatewayLink, linked_gateway
from tests.areas.waiting import until


class Site:
    """The folder of a gateway whose proxy is the test."""

    def __init__(self, gateway: GatewayLink, folder: Path, api: str) -> None:
        self.gateway = gateway
        self.folder = folder
        self.file = UsageFile(folder)
        self._path = folder / "access.log"
        self._api = api

    def serve(self, calls: int, at: datetime | None = None) -> None:
        """Writes calls into the log."""
        call = LoggedCall(time=at or datetime.now(UTC), route=f"{self._api}/v1/shop", status=200)
        with self._path.open("ab") as file:
            file.write((msgspec.json.encode(call) + b"\n") * calls)

    @asynccontextmanager
    async def reporting(self) -> AsyncIterator[asyncio.Event]:
        """Gives what is set once the proxy has ended; the reporter ends with the context."""
        link, name, ended = self.gateway.link, self.gateway.gateway, asyncio.Event()
        calls = CallStream(name, link, SystemClock(), rate=5)
        reporter = UsageReporter(name, AccessLog(self._path, self._reopen), self.file, link, calls)
        serving = asyncio.create_task(reporter.serve(ended))
        try:
            yield ended
            if ended.is_set():
                await serving
        finally:
            serving.cancel()
            await asyncio.wait([serving])

    async def _reopen(self) -> None:
        self._path.touch()


@pytest.fixture
async def site(application: Application, tmp_path: Path, name: str) -> AsyncIterator[Site]:
    async with linked_gateway(application, f"gw-{name}") as gateway:
        yield Site(gateway, tmp_path, name)


async def usage(application: Application, name: str, **wanted: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await application.reader.get("/apim/usage", params={"Api": name, **wanted})).json()
    return found


async def counted(application: Application, name: str, calls: int) -> int:
    """How many calls are counted, once it is that many."""

    async def enough() -> int:
        found = sum(row["Calls"] for row in await usage(application, name))
        return found if found >= calls else 0

    return await until(enough)


async def test_what_was_left_at_the_stop_is_told_first(application: Application, site: Site, name: str) -> None:
    async with site.reporting() as ended:
        site.serve(3)
        ended.set()
    assert await counted(application, name, 3) == 3
    assert site.file.load().unsent == []


async def test_calls_of_the_time_away_are_told_and_put_to_their_hours(
    application: Application, site: Site, name: str
) -> None:
    now = datetime.now(UTC)
    site.serve(2, at=now - timedelta(hours=2))
    site.serve(3, at=now)
    async with site.reporting() as ended:
        assert await counted(application, name, 5) == 5
        ended.set()
    assert [row["Calls"] for row in await usage(application, name, Interval="hour")] == [3, 2]


async def test_nothing_is_lost_or_doubled_while_the_disk_does_not_take_it(
    application: Application, site: Site, name: str
) -> None:
    obstacle = site.folder / f".usage.json.{os.getpid()}"  # where the file is written before it is moved
    async with site.reporting() as ended:
        site.serve(2)
        assert await counted(application, name, 2) == 2
        obstacle.mkdir()
        site.serve(3)
        await asyncio.sleep(2.5)
        assert sum(row["Calls"] for row in await usage(application, name)) == 2
        obstacle.rmdir()
        site.serve(1)
        assert await counted(application, name, 6) == 6
        ended.set()


async def test_of_many_calls_the_stream_shows_some(application: Application, site: Site, name: str) -> None:
    async with site.reporting() as ended:
        site.serve(500)
        assert await counted(application, name, 500) == 500

        async def told() -> list[dict[str, Any]]:
            path = "/eventing/streams/gateway-calls/messages"
            messages = (await application.reader.get(path, params={"Count": 1000})).json()
            return [message for message in messages if site.gateway.gateway in message["Subject"]]

        assert 1 <= len(await until(told)) <= 20
        ended.set()
