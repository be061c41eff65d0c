"""How each gateway stands, as it said last."""

from datetime import timedelta

import msgspec

from penstock.areas.apim.table.current import CurrentTable
from penstock.areas.apim.usage.model import GatewayDto
from penstock.areas.apim.usage.streams import STANDING_STREAM
from penstock.bus.bus import Bus
from penstock.bus.message import StoredMessage
from penstock.bus.reader import StreamReader
from penstock.kernel.clock import Clock
from penstock.protocol.gateway import GatewayStanding
from penstock.protocol.subjects import gateway_of
from penstock.resource.page import MOST
from penstock.store.store import decode

_SILENCE = timedelta(seconds=30)


class GatewayStandings:
    """Gateways say how they stand every ten seconds, and when it changes."""

    def __init__(self, bus: Bus, clock: Clock, table: CurrentTable) -> None:
        self._reader = StreamReader(bus)
        self._clock = clock
        self._table = table

    async def all(self) -> list[GatewayDto]:
        """The gateways of the last seven days, by name."""
        messages = await self._reader.newest(STANDING_STREAM, count=MOST)
        found = [self._shown(message) for message in messages]
        return sorted(found, key=lambda gateway: gateway.name)

    def _shown(self, message: StoredMessage) -> GatewayDto:
        standing = _read(message)
        return GatewayDto(
            name=gateway_of(message.subject),
            address=standing.address,
            online=self._clock.now() - message.time < _SILENCE,
            last_seen=message.time,
            stamp=standing.stamp,
            up_to_date=standing.stamp is not None and standing.stamp == self._table.stamp,
            applied_at=standing.applied_at,
            problem=standing.problem,
        )


def _read(message: StoredMessage) -> GatewayStanding:
    try:
        return decode(message.data, GatewayStanding)
    except msgspec.DecodeError:
        return GatewayStanding(gateway="", address="", problem="what it says of itself cannot be read")
