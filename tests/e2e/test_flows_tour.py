"""docs/tutorial-flows.md, with the files that it uses, through real processes."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.installation import PATIENCE, Place
from tests.nats_server import free_port

pytestmark = pytest.mark.timeout(180)

EXAMPLES = Path(__file__).parents[2] / "examples" / "flows"
PASSWORD = "the password of the tutorial"
VARIABLE = """
apiVersion: penstock/v1alpha1
kind: Variable
metadata: {{name: {name}}}
spec: {{value: "{value}", isSecret: true}}
---"""


async def answer(method: str, url: str, **options: Any) -> str:
    """The body of the answer."""
    async with aiohttp.ClientSession() as client, client.request(method, url, **options) as response:
        return await response.text()


async def api_key(server: str) -> str:
    login = {"UserName": "admin", "Password": PASSWORD}
    async with aiohttp.ClientSession() as client, client.post(f"{server}/identity/login/username", json=login) as given:
        token = (await given.json())["Token"]
    authorization = {"Authorization": f"Bearer {token}"}
    key = await answer("POST", f"{server}/identity/apikey?username=admin&name=shop", headers=authorization)
    return key.strip('"')


async def test_an_order_is_priced_written_and_told_and_what_fails_is_a_dead_letter(tmp_path: Path) -> None:
    place, port, shop = Place(tmp_path), free_port(), tmp_path / "shop"
    shop.mkdir()
    subprocess.run([sys.executable, EXAMPLES / "shop.py", shop / "shop.db"], check=True)
    orders, server = f"http://127.0.0.1:{port}/orders", f"http://127.0.0.1:{place.port}"
    settings = {
        "PENSTOCK_AGENT_LOCAL_FOLDERS": str(shop),
        "PENSTOCK_AGENT_HTTP_PORT": str(port),
        "PENSTOCK_ADMIN_PASSWORD": PASSWORD,
    }
    async with place.up(**settings) as up:
        await up.shows("Ctrl-C stops everything")
        values = {
            "datasource.shop": f"sqlite:///{shop}/shop.db",
            "penstock.address": f"127.0.0.1:{place.port}",
            "penstock.key": await api_key(server),
        }
        documents = "".join(VARIABLE.format(name=name, value=value) for name, value in values.items())
        applied = await place.terminal.run("apply", "-f", "-", given=documents.removesuffix("---"))
        assert applied.code == 0, applied.err
        started = await place.terminal.run("flow", "run", str(EXAMPLES / "orders.yaml"))
        assert started.code == 0, started.out + started.err

        lines = '[{"sku": "a1", "quantity": 2}, {"sku": "zz", "quantity": 1}]'
        assert await answer("POST", orders, data=f'{{"order": "1", "lines": {lines}}}') == "order 1 is placed"
        assert (await answer("POST", orders, data="{oops")).startswith("{oops: ")
        assert (shop / "orders/priced.csv").read_text() == "1,a1,2,apples,3\n"
        assert (shop / "orders/dead-letters.txt").read_text().startswith("1: 1 x zz: there is no such article\n{oops: ")
        event = await place.terminal.run("get", "event", "order-1", "-o", "json")
        assert "shop.order.placed" in event.out

        up.child("cli.main agent").kill()
        async with asyncio.timeout(PATIENCE):
            while await again(orders) != "order 2 is placed":
                await asyncio.sleep(0.1)
        logged = await place.terminal.run("logs", "orders")
        assert "there is no such article" in logged.out
        assert values["penstock.key"] not in logged.out


async def again(orders: str) -> str:
    """What is answered to another order; nothing while nobody listens."""
    try:
        return await answer("POST", orders, data='{"order": "2", "lines": []}')
    except aiohttp.ClientError:
        return ""
