"""The streams that gateways report to."""

from datetime import timedelta

from penstock.bus.bus import Bus
from penstock.bus.streams import Streams, StreamSpec
from penstock.protocol.subjects import CALLS, GATEWAY_STREAM, STANDING, USAGE, gateway_report

CALL_STREAM = "gateway-calls"
STANDING_STREAM = "GATEWAY_STANDINGS"

_USAGE = StreamSpec(
    name=GATEWAY_STREAM,
    subjects=[gateway_report("*", USAGE)],
    description="calls that gateways served, until they are counted",
    max_age=timedelta(days=7),
    duplicate_window=timedelta(minutes=10),
)
_STANDINGS = StreamSpec(
    name=STANDING_STREAM,
    subjects=[gateway_report("*", STANDING)],
    description="how each gateway stands",
    max_age=timedelta(days=7),
    max_per_subject=1,
)
_CALLS = StreamSpec(
    name=CALL_STREAM,
    subjects=[gateway_report("*", CALLS)],
    description="calls of published APIs, not all when there are many",
    max_age=timedelta(days=1),
    max_messages=100_000,
)


class GatewayStreams:
    """Made before gateways report."""

    def __init__(self, bus: Bus) -> None:
        self._streams = Streams(bus)

    async def ensure(self) -> None:
        """Idempotent."""
        for spec in (_USAGE, _STANDINGS, _CALLS):
            await self._streams.ensure(spec)

    async def drop_counted(self, up_to: int) -> None:
        """Removes reports of calls up to a sequence, which have been counted."""
        await self._streams.purge(GATEWAY_STREAM, up_to=up_to)
