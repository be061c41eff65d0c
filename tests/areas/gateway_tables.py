"""What a gateway is told to serve, as it learns it: asked anew at each notice, and only then."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from penstock.protocol.gateway import GatewaySubscription, GatewayTable, GatewayVersion, table_decoder
from tests.application import Application
from tests.areas.gateway_link import GatewayLink

T = TypeVar("T")


class TableWatch:
    """The table as the gateway has it. Tests share servers, so it has more than a test published."""

    def __init__(self, gateway: GatewayLink) -> None:
        self.gateway = gateway
        self.changed = asyncio.Event()
        self.stamp: str | None = None
        self.table = GatewayTable()

    async def ask(self) -> None:
        told = await self.gateway.link.table(self.stamp)
        if told is not None:
            self.stamp, body = told
            self.table = table_decoder.decode(body)

    def version(self, listed: str) -> GatewayVersion | None:
        """By `api/version`."""
        return next((each for each in self.table.versions if f"{each.api}/{each.version}" == listed), None)

    def subscription(self, name: str) -> GatewaySubscription | None:
        return next((each for each in self.table.subscriptions if each.name == name), None)

    async def becomes(self, condition: Callable[["TableWatch"], T], seconds: float = 20) -> T:
        """What the condition answers once it is true; asks only when the servers tell of a change."""
        async with asyncio.timeout(seconds):
            while not (found := condition(self)):
                await self.changed.wait()
                self.changed.clear()
                await self.ask()
        return found


@asynccontextmanager
async def watched_table(application: Application, gateway: str) -> AsyncIterator[TableWatch]:
    """With the table as it is when it's first asked for."""
    watch = TableWatch(GatewayLink(application, gateway))
    serving = asyncio.create_task(watch.gateway.link.serve(watch.changed.set))
    try:
        async with asyncio.timeout(20):
            await watch.changed.wait()
        watch.changed.clear()
        await watch.ask()
        yield watch
    finally:
        serving.cancel()
        await asyncio.wait([serving])
