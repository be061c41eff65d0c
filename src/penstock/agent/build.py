"""Which Penstock this is."""

from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

BUILD_VERSION = version("penstock")


@cache
def build_date() -> datetime:
    """When the installed files were written."""
    return datetime.fromtimestamp(int(Path(__file__).stat().st_mtime), UTC)
