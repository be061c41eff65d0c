"""What a version of a flow holds open: opened once, shared, closed behind its last exchange."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest

from penstock.flow.context import FlowContext, NoConsumer
from penstock.flow.definition import FlowDefinition
from penstock.flow.exchange import Exchange
from penstock.flow.parsing.parser import parse_flow
from penstock.flow.step import Step
from tests.conformance.running_engine import eventually, running_engine
from tests.conformance.timed_flows import NO_GRACE, timer


class Using(Step, frozen=True, kw_only=True):
    """A step that uses a resource which notes its life, and may wait within."""

    element = "using"
    life: list[str]
    name: str = "a"
    hold: asyncio.Event | None = None
    fails: int = 0

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        self.life.append(await flow.resource(self.name, self._open))
        if self.hold is not None:
            await self.hold.wait()

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[str]:
        self.life.append(f"open {self.name}")
        if len(self.life) <= self.fails:
            raise ConnectionError("away")
        async with asyncio.timeout(600):  # must be entered and left by one task
            yield f"use {self.name}"
        self.life.append(f"close {self.name}")


def using(*steps: Step, version: str = "1", count: int = 1) -> FlowDefinition:
    flow = parse_flow("held", version, timer(f"delay=0&period=1&repeatCount={count}", "stop"))
    return msgspec.structs.replace(flow, routes=(msgspec.structs.replace(flow.routes[0], steps=steps),))


async def test_a_resource_is_opened_once_shared_and_closed_with_the_flow() -> None:
    life: list[str] = []
    async with running_engine() as running:
        await running.engine.start(using(Using(life=life), Using(life=life), count=2))
        await running.settled("held", 2)
        await running.engine.stop("held", NO_GRACE)
    assert life == ["open a", *["use a"] * 4, "close a"]


async def test_resources_are_closed_in_the_other_order() -> None:
    life: list[str] = []
    async with running_engine() as running:
        await running.engine.start(using(Using(life=life), Using(life=life, name="b")))
        await running.settled("held")
    assert life == ["open a", "use a", "open b", "use b", "close b", "close a"]


async def test_one_that_cannot_be_opened_is_tried_again_by_the_next_exchange() -> None:
    life: list[str] = []
    async with running_engine() as running:
        await running.engine.start(using(Using(life=life, fails=1), count=2))
        await running.settled("held", 2)
        assert running.engine.status("held").statistics.exchanges_failed == 1
    assert life == ["open a", "open a", "use a", "close a"]


async def test_an_old_versions_resources_stay_open_until_its_last_exchange_has_ended() -> None:
    life: list[str] = []
    hold = asyncio.Event()
    async with running_engine() as running:
        await running.engine.start(using(Using(life=life, hold=hold)))
        await eventually(lambda: "use a" in life)
        await running.engine.start(using(Using(life=life, name="new"), version="2"))
        await eventually(lambda: "use new" in life)
        assert "close a" not in life
        hold.set()
        await eventually(lambda: "close a" in life)
        assert running.engine.status("held").version == "2"
        assert "close new" not in life


async def test_stopping_ends_the_exchanges_of_all_versions_and_closes_what_they_held() -> None:
    life: list[str] = []
    async with running_engine() as running:
        for version in ("1", "2"):
            await running.engine.start(using(Using(life=life, name=version, hold=asyncio.Event()), version=version))
            await eventually(lambda name=version: f"use {name}" in life)  # type: ignore[misc]
        await running.engine.stop("held", NO_GRACE)
        assert {"close 1", "close 2"} <= set(life)


async def test_one_address_cannot_be_taken_by_two_routes() -> None:
    async with running_engine() as running:
        with pytest.raises(NoConsumer, match="stands in `from` twice"):
            await running.start("twice", "- from: {uri: 'direct:a', steps: []}\n" * 2)
        assert running.engine.names() == []
