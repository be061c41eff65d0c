"""Work beside requests: what gateways report is counted."""

import asyncio
from collections.abc import Sequence

from penstock.areas.apim.usage.streams import GatewayStreams
from penstock.areas.apim.usage.taking import UsageTaking
from penstock.bus.bus import Bus
from penstock.bus.message import Delivered
from penstock.bus.single_reader import SingleReader
from penstock.protocol.subjects import GATEWAY_STREAM
from penstock.resource.area import Worker

_PACE = 0.5
_CLEAR_SECONDS = 60.0


class UsageReading(Worker):
    """Counts the calls that gateways report, on one replica at a time."""

    def __init__(self, bus: Bus, streams: GatewayStreams, usage: UsageTaking) -> None:
        self._bus = bus
        self._streams = streams
        self._usage = usage
        self._counted = 0

    async def run(self) -> None:
        await self._streams.ensure()
        async with asyncio.TaskGroup() as group:
            group.create_task(SingleReader(self._bus, GATEWAY_STREAM, "api-usage").run(self._take, pace=_PACE))
            group.create_task(self._clear())

    async def _take(self, messages: Sequence[Delivered]) -> None:
        await self._usage.take(messages)
        self._counted = messages[-1].sequence

    async def _clear(self) -> None:
        cleared = 0
        while True:
            await asyncio.sleep(_CLEAR_SECONDS)
            if self._counted > cleared:
                await self._streams.drop_counted(self._counted)
                cleared = self._counted
