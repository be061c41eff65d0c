"""The table of gateways: how long a change of one subscription takes to a gateway, few and many being published."""

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
from tests.application import Application, running_application
from tests.areas.gateway_tables import TableWatch, watched_table

from penstock.server.log import set_up_logs

TITLE = "Table of gateways"
_FEW = (1, 10)
_MANY = (1_000, 10_000)
_CHANGES = 15
_AT_ONCE = 2_000


async def run() -> list[tuple[str, str]]:
    set_up_logs("console", "error")
    with tempfile.TemporaryDirectory() as folder:
        async with running_application(Path(folder)) as application, watched_table(application, "bench") as watch:
            rows: list[tuple[str, str]] = []
            bare = 0.0
            for apis, subscriptions in (_FEW, _MANY):
                await _publish(application, apis, subscriptions)
                await _settled(watch, subscriptions)
                revoked = median([await _revoked(application, watch, number) for number in range(_CHANGES)])
                bare = bare or revoked
                label = f"{apis} APIs, {subscriptions} subscriptions: a key revoked to told, p50"
                rows.append((label, f"{revoked * 1000:.0f} ms, {revoked / bare:.1f}x of few"))
            return rows


async def _publish(application: Application, apis: int, subscriptions: int) -> None:
    documents = [_document("Api", f"a{number}", {}) for number in range(apis)]
    upstream = {"type": "address", "parameters": {"url": "http://127.0.0.1:9"}}
    documents += [_document("ApiVersion", f"a{number}/v1", upstream) for number in range(apis)]
    documents += [
        _document("ApiSubscription", f"s{number}", {"apis": sorted({f"a{number % apis}", f"a{number * 7 % apis}"})})
        for number in range(subscriptions)
    ]
    for start in range(0, len(documents), _AT_ONCE):
        text = "\n---\n".join(msgspec.json.encode(each).decode() for each in documents[start : start + _AT_ONCE])
        (await application.admin.put("/configuration", json=text)).raise_for_status()


async def _settled(watch: TableWatch, subscriptions: int) -> None:
    """Returns when the gateway has all of it."""
    await watch.becomes(lambda table: len(table.table.subscriptions) >= subscriptions - _CHANGES, seconds=120)
    await asyncio.sleep(2)


async def _revoked(application: Application, watch: TableWatch, number: int) -> float:
    """Seconds from the call to the table without the subscription. The subscription has a key again afterwards."""
    name = f"s{number % _FEW[1]}"
    began = time.perf_counter()
    (await application.admin.delete(f"/apim/subscriptions/{name}/key")).raise_for_status()
    await watch.becomes(lambda table: table.subscription(name) is None, seconds=120)
    seconds = time.perf_counter() - began
    (await application.admin.post(f"/apim/subscriptions/{name}/key", json={})).raise_for_status()
    await watch.becomes(lambda table: table.subscription(name) is not None, seconds=120)
    return seconds


def _document(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "penstock/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}
