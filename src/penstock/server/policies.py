"""The areas' policies, filled from the settings."""

from collections.abc import Sequence
from typing import Any

from penstock.server.settings import ServerSettings


def policies(settings: ServerSettings, servers: Sequence[str]) -> list[Any]:
    """One object per policy class that an area declares. servers: addresses of the bus as this server sees it."""
    return []
