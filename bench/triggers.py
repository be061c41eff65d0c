"""Triggers of actions: a request's way to the result beside a run by hand, and what triggers cost publishing."""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from tests.application import Application, running_application

from penstock.server.log import set_up_logs

TITLE = "Triggers of actions"
_RUNS = 10
_POOL_SECONDS = 1.5
_TRIGGERS = 1000
_BATCHES = 20
_BATCH = 100
_CODE = "# parameters\nnumber: int = 1\n\nnumber * 2"


async def run() -> list[tuple[str, str]]:
    set_up_logs("console", "error")
    os.environ["PENSTOCK_ENGINE_POOL"] = "2"
    with tempfile.TemporaryDirectory() as folder:
        async with running_application(Path(folder)) as application:
            made = await application.operator.post("/automation/action", json={"Name": "bench", "Content": _CODE})
            action = made.raise_for_status().json()["Id"]
            return [*await _results(application, action), *await _publishing(application, action)]


async def _results(application: Application, action: str) -> list[tuple[str, str]]:
    client = application.operator
    trigger = {"ActionId": action, "Route": "bench", "TriggerType": "open"}
    (await client.post("/automation/triggers/web", json=trigger)).raise_for_status()
    await client.post(f"/automation/action/{action}/run", json={})  # starts the engine
    await asyncio.sleep(5)
    by_hand = await _times(lambda: client.post(f"/automation/action/{action}/run", json={}))
    web = await _times(lambda: application.anonymous.get("/web/bench?number=4"))
    return [
        ("action by hand, pooled kernel, p50", f"{median(by_hand) * 1000:.1f} ms"),
        ("web trigger to result, p50", f"{median(web) * 1000:.1f} ms, {median(web) / median(by_hand):.2f}x of by hand"),
    ]


async def _publishing(application: Application, action: str) -> list[tuple[str, str]]:
    without = await _published(application, "without")
    for number in range(_TRIGGERS):
        body = {"ActionId": action, "EventType": f"never-{number}"}
        (await application.operator.post("/automation/triggers/event", json=body)).raise_for_status()
    with_many = await _published(application, "with")
    return [
        ("publishing without event triggers", f"{without:,.0f} events/s"),
        (f"publishing with {_TRIGGERS} event triggers", f"{with_many:,.0f} events/s, {with_many / without:.2f}x"),
    ]


async def _published(application: Application, name: str) -> float:
    """Events a second."""
    began = time.perf_counter()
    for number in range(_BATCHES):
        batch = [_event(f"{name}-{number}-{each}") for each in range(_BATCH)]
        headers = {"Content-Type": "application/cloudevents-batch+json"}
        (await application.operator.post("/api/EventHub/Publish", json=batch, headers=headers)).raise_for_status()
    return _BATCHES * _BATCH / (time.perf_counter() - began)


def _event(id: str) -> dict[str, Any]:
    return {"specversion": "1.0", "type": "bench", "source": "/bench", "id": id, "data": {"number": 1}}


async def _times(call: Callable[[], Awaitable[httpx.Response]]) -> list[float]:
    times = []
    for _ in range(_RUNS):
        await asyncio.sleep(_POOL_SECONDS)  # for the pool
        began = time.perf_counter()
        (await call()).raise_for_status()
        times.append(time.perf_counter() - began)
    return times
