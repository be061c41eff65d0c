"""A gateway as the servers see it: its real link to the bus, and no proxy behind it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import uuid4

from penstock.bus.credentials import BusKeys
from penstock.gateway.access import BusAccess
from penstock.gateway.link import Link
from penstock.protocol.gateway import BUCKETS_MS, UsageEntry, UsageReport
from penstock.protocol.subjects import USAGE
from tests.application import Application
from tests.areas.waiting import until


class GatewayLink:
    """Reports as the gateway of a name. The numbers of its reports rise by themselves."""

    def __init__(self, application: Application, gateway: str) -> None:
        self.gateway = gateway
        self.source = uuid4().hex
        self.number = 0
        platform = application.platform
        servers = [platform.nats.url] if platform.nats is not None else platform.settings.nats_url
        credential = platform.container.get(BusKeys).gateway_user(gateway, None)
        self._access = BusAccess(servers, credential.jwt, credential.seed)
        self.link = Link(self, gateway)

    def read(self) -> BusAccess:
        return self._access

    def report(self, *entries: UsageEntry, at: datetime | None = None, number: int | None = None) -> UsageReport:
        """A report of calls at a time, which is now unless given."""
        self.number = number or self.number + 1
        at = at or datetime.now(UTC)
        return UsageReport(
            id=f"{self.source}-{self.number}", gateway=self.gateway, since=at, until=at, entries=list(entries)
        )

    async def tell(self, report: UsageReport) -> None:
        """Every time as a message of its own, so that the bus takes it however often it comes."""
        await self.link.report(USAGE, report)


@asynccontextmanager
async def linked_gateway(application: Application, gateway: str) -> AsyncIterator[GatewayLink]:
    linked = GatewayLink(application, gateway)
    serving = asyncio.create_task(linked.link.serve(lambda: None))

    async def is_connected() -> bool:
        return linked.link.connected

    try:
        await until(is_connected)
        yield linked
    finally:
        serving.cancel()
        await asyncio.wait([serving])


def calls(api: str, subscription: str | None, number: int, status: int = 200, ms: int = 10) -> UsageEntry:
    """Some calls to the version v1, all alike."""
    latency = [0] * (len(BUCKETS_MS) + 1)
    latency[next(index for index, bound in enumerate(BUCKETS_MS) if ms <= bound)] = number
    return UsageEntry(
        api=api,
        version="v1",
        subscription=subscription,
        statuses={status: number},
        latency=latency,
        milliseconds=number * ms,
        received=number,
        sent=2 * number,
    )
