"""The values of variables."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class Variables(Protocol):
    """Provided by `variables`."""

    async def values(self, names: Sequence[str]) -> Mapping[str, tuple[str, bool]]:
        """name -> (value, is_secret) of those that exist; names compared without case, keys as asked for."""
        ...
