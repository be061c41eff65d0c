"""Which subscriptions have used up their quotas."""

from collections.abc import Mapping
from datetime import datetime

from penstock.areas.apim.subscription_parameters import Quota, window
from penstock.resource.ports.api_usage import ApiUsage


class Quotas:
    """Without anybody who counts calls no quota is ever used up."""

    def __init__(self, usage: ApiUsage | None = None) -> None:
        self._usage = usage

    async def spent(self, quotas: Mapping[str, Quota], now: datetime) -> Mapping[str, datetime]:
        """By the names of subscriptions, until when each has no calls left; nothing for those that have."""
        windows = {name: found for name, quota in quotas.items() if (found := window(quota.period, now)) is not None}
        if self._usage is None or not windows:
            return {}
        calls = await self._usage.calls({name: begin for name, (begin, _) in windows.items()})
        return {name: end for name, (_, end) in windows.items() if calls.get(name, 0) >= quotas[name].calls}
