"""Which subscriptions have used up their quotas."""

from collections.abc import Collection, Mapping
from datetime import datetime

from penstock.areas.apim.subscription_parameters import Quota, window
from penstock.resource.ports.api_usage import ApiUsage


class Quotas:
    """Without anybody who counts calls no quota is ever used up."""

    def __init__(self, usage: ApiUsage | None = None) -> None:
        self._usage = usage
        self._quotas: Mapping[str, Quota] = {}
        self._spent: dict[str, datetime] = {}

    async def spent(
        self, quotas: Mapping[str, Quota], now: datetime, called: Collection[str] | None = None
    ) -> Mapping[str, datetime]:
        """By the names of subscriptions, until when each has no calls left; nothing for those that have.

        called: those that may have made calls since this was last asked; None: any.
        """
        anew = {name for name, quota in quotas.items() if self._quotas.get(name) != quota}
        asked = quotas.keys() if called is None else anew | (quotas.keys() & called)
        kept = {name: end for name, end in self._spent.items() if name in quotas and name not in asked and end > now}
        self._spent = kept | await self._found({name: quotas[name] for name in asked}, now)
        self._quotas = quotas
        return self._spent

    async def _found(self, quotas: Mapping[str, Quota], now: datetime) -> dict[str, datetime]:
        windows = {name: found for name, quota in quotas.items() if (found := window(quota.period, now)) is not None}
        if self._usage is None or not windows:
            return {}
        calls = await self._usage.calls({name: begin for name, (begin, _) in windows.items()})
        return {name: end for name, (_, end) in windows.items() if calls.get(name, 0) >= quotas[name].calls}
