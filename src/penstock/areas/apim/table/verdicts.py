"""Whether hosts that variables make may be connected to."""

import asyncio
from collections.abc import Collection

from penstock.egress.address_guard import AddressGuard, AddressRefused

_KNOWN_SECONDS = 60.0
_WAIT_SECONDS = 2.0


class HostVerdicts:
    """Names are looked up again each minute, all side by side: a slow look-up must not keep the table from gateways."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._refused: dict[str, bool] = {}
        self._until: dict[str, float] = {}

    async def refused(self, hosts: Collection[str]) -> frozenset[str]:
        """A host whose look-up takes too long is refused, unless it was allowed the last time."""
        now = asyncio.get_running_loop().time()
        asked = [host for host in hosts if self._until.get(host, 0.0) <= now]
        verdicts = await asyncio.gather(*(self._refuses(host) for host in asked))
        self._refused = {host: refused for host, refused in self._refused.items() if host in hosts}
        self._refused |= dict(zip(asked, verdicts, strict=True))
        self._until = {host: until for host, until in self._until.items() if host in hosts}
        self._until |= dict.fromkeys(asked, now + _KNOWN_SECONDS)
        return frozenset(host for host, refused in self._refused.items() if refused)

    async def _refuses(self, host: str) -> bool:
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                await self._guard.resolve(host)
        except AddressRefused:
            return True
        except TimeoutError:
            return self._refused.get(host, True)
        except OSError:
            return False  # it means nothing now; the gateway will not connect either
        return False
