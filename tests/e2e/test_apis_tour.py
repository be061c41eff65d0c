"""docs/tutorial-apis.md, with the files that it uses, through real processes; and what kills do to callers."""

import asyncio
import runpy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.api_packages import package_index
from tests.gateway_program import GatewayCaller
from tests.installation import PATIENCE, Place, Up
from tests.nats_server import free_port

pytestmark = pytest.mark.timeout(180)

EXAMPLES = Path(__file__).parents[2] / "examples" / "apis"
ROWS = [{"id": 1, "name": "desk", "watts": 9.0}, {"id": 2, "name": "floor", "watts": 15.5}]


class Shop:
    """The tutorial's installation. address: of the published API."""

    def __init__(self, place: Place, up: Up, port: int) -> None:
        self.up = up
        self.address = f"http://127.0.0.1:{port}/shop/lamps/v1/lamps"
        self._place = place

    async def run(self, *arguments: str, given: str = "") -> str:
        """What a command that succeeds writes."""
        ended = await self._place.terminal.run(*arguments, given=given)
        assert ended.code == 0, ended.err
        return ended.out

    async def apply(self) -> None:
        await self.run("apply", "-f", str(EXAMPLES / "package.yaml"))
        async with asyncio.timeout(PATIENCE):
            while "Ready" not in await self.run("get", "apipackages"):
                await asyncio.sleep(0.1)
        # The database is one of the test's own, and a test calls more often than five times a second.
        text = (EXAMPLES / "lamps.yaml").read_text().replace("/tmp/lamps.db", str(self._place.folder / "lamps.db"))
        await self.run("apply", "-f", "-", given=text.replace("calls: 5,", "calls: 100000,"))

    async def calls(self, key: str) -> int:
        return await GatewayCaller(self.address, key).call()

    async def gets(self, key: str, status: int) -> None:
        await GatewayCaller(self.address, key).gets(status)


@asynccontextmanager
async def shop(folder: Path) -> AsyncIterator[Shop]:
    place, port = Place(folder), free_port()
    _make_database(folder / "lamps.db")
    wheels = str(package_index(folder / "wheels"))
    settings = {
        "PENSTOCK_GATEWAY_PORT": str(port),
        "PENSTOCK_AGENT_HTTP_PORT": str(free_port()),
        "UV_CACHE_DIR": str(folder / "cache"),
        **{f"PENSTOCK_{part}PACKAGE_FOLDER": wheels for part in ("", "AGENT_")},
        **{f"PENSTOCK_{part}PACKAGE_INDEX": "none" for part in ("", "AGENT_")},
    }
    async with place.up(**settings) as up:
        await up.shows("Ctrl-C stops everything.")
        running = Shop(place, up, port)
        await running.apply()
        yield running


def _make_database(path: Path) -> None:
    source = (EXAMPLES / "lamps.py").read_text().replace("/tmp/lamps.db", str(path))
    script = path.with_suffix(".py")
    script.write_text(source)
    runpy.run_path(str(script))


async def test_an_endpoint_is_published_with_a_key_in_five_commands(tmp_path: Path) -> None:
    async with shop(tmp_path) as lamps:
        key = (await lamps.run("api", "key", "webshop")).strip()
        await lamps.gets(key, 200)
        async with httpx.AsyncClient() as client:
            assert (await client.get(lamps.address, headers={"X-API-Key": key})).json() == ROWS
            refused = await client.get(lamps.address, headers={"X-API-Key": "guessed"})
            assert (refused.status_code, refused.headers["content-type"]) == (401, "application/problem+json")

        renewed = (await lamps.run("api", "key", "webshop", "--renew", "--overlap", "PT1H")).strip()
        await lamps.gets(renewed, 200)
        assert (renewed != key, await lamps.calls(key)) == (True, 200)
        assert (await lamps.run("api", "key", "webshop")).strip() == renewed

        lamps.up.child("envoy --config-path").kill()
        await lamps.gets(renewed, 200)
        lamps.up.child("penstock.cli.main serve").kill()
        assert [await lamps.calls(renewed) for _ in range(10)] == [200] * 10
        await lamps.up.shows("The server was ended by SIGKILL")
        async with asyncio.timeout(PATIENCE):
            while (await lamps.calls(renewed)) != 200 or not await _counted(lamps):
                await asyncio.sleep(0.1)

        await lamps.run("api", "key", "webshop", "--revoke")
        await lamps.gets(renewed, 401)
        assert await lamps.calls(key) == 401
        assert (await lamps.up.interrupt()).code == 0


async def _counted(lamps: Shop) -> bool:
    """Whether the server is back and has counted what was called while it was away."""
    try:
        usage = msgspec.json.decode(await lamps.run("get", "apiusage", "-o", "json"))
        [gateway] = msgspec.json.decode(await lamps.run("get", "gateways", "-o", "json"))
    except AssertionError:
        return False
    calls = sum(row["Calls"] for row in usage if row["Subscription"] == "webshop")
    return calls >= 13 and gateway["UpToDate"] is True
