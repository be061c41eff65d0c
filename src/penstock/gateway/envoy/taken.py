"""Whether Envoy has taken what was put into its files."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from penstock.gateway.envoy import limits, oidc
from penstock.gateway.envoy.admin import Admin
from penstock.gateway.envoy.listener import STATISTICS, Files
from penstock.gateway.envoy.refusal import TableRefused
from penstock.gateway.envoy.routes import NAME as ROUTES
from penstock.kernel.errors import Unavailable

_SUBSCRIPTIONS = {
    Files.LISTENERS: "listener_manager.lds",
    Files.CLUSTERS: "cluster_manager.cds",
    Files.ROUTES: f"http.{STATISTICS}.rds.{ROUTES}",
    Files.LIMITS: f"extension_config_discovery.http_filter.{limits.FILTER}",
    Files.TOKENS: f"extension_config_discovery.http_filter.{oidc.FILTER}",
}
"""How Envoy's statistics call what reads each file."""
_WARMING = ("cluster_manager.warming_clusters", "listener_manager.total_listeners_warming")
_FIRST_PAUSE = 0.003
_LONGEST_PAUSE = 0.05
_SECONDS = 60.0
_WARMING_SECONDS = 5.0


class Taken:
    """reason: asked for Envoy's words, once it refuses something."""

    def __init__(self, admin: Admin, reason: Callable[[], Awaitable[str]]) -> None:
        self._admin = admin
        self._reason = reason
        self._refused: dict[str, int] = {}

    async def follow(self, stamps: Mapping[str, str]) -> None:
        """Returns when each file with its stamp is in force, and new parts are ready. stamps: by file.

        Hosts that do not answer hold nothing up for long. Raises TableRefused, or Unavailable when Envoy is away for
        a minute.
        """
        now, pause = asyncio.get_running_loop().time, _FIRST_PAUSE
        started = now()
        while True:
            found = await self._statistics()
            left = [name for name, stamp in stamps.items() if not _has(found, name, stamp)]
            await self._look_for_refusals(found, stamps)
            if not left and (_is_warm(found) or now() > started + _WARMING_SECONDS):
                return
            if left and now() > started + _SECONDS:
                raise Unavailable(f"Envoy has not taken {', '.join(left)} within {_SECONDS:g} s")
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def _look_for_refusals(self, found: Mapping[str, str], stamps: Mapping[str, str]) -> None:
        for name, subscription in _SUBSCRIPTIONS.items():
            count = sum(int(found.get(f"{subscription}.{kind}", 0)) for kind in _REFUSALS)
            before, self._refused[name] = self._refused.get(name, 0), count
            if count > before and name in stamps:
                raise TableRefused(f"Envoy refuses {name.removesuffix('.json')}: {await self._reason()}")

    async def _statistics(self) -> dict[str, str]:
        """Waits for an Envoy that is being restarted."""
        deadline = asyncio.get_running_loop().time() + _SECONDS
        while True:
            try:
                return await self._admin.statistics()
            except Unavailable:
                if asyncio.get_running_loop().time() > deadline:
                    raise
                await asyncio.sleep(_LONGEST_PAUSE)


_REFUSALS = ("update_rejected", "update_failure", "config_fail")


def _has(found: Mapping[str, str], name: str, stamp: str) -> bool:
    return found.get(f"{_SUBSCRIPTIONS[name]}.version_text") == stamp


def _is_warm(found: Mapping[str, str]) -> bool:
    return all(found.get(name, "0") == "0" for name in _WARMING)
