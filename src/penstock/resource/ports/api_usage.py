"""How much published APIs are used."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

USAGE_CHANGES = "api_usage"
"""The name under which `resource.changes` tells that there are new calls."""


class ApiUsage(Protocol):
    """Provided by `apim.usage`; new calls are told as changes of USAGE_CHANGES. Perhaps nobody provides it."""

    async def calls(self, since: Mapping[str, datetime]) -> Mapping[str, int]:
        """How many calls each subscription made since its time; of those that made none, nothing or 0.

        since: by the subscriptions' names. Calls that were refused (401, 403, 429) do not count.
        """
        ...
