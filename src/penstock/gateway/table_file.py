"""The last table, kept on disk: a gateway serves it while nobody tells it a newer one."""

from datetime import datetime
from pathlib import Path

import msgspec
import structlog

from penstock.kernel.private_file import write_private
from penstock.protocol.gateway import GatewayTable

_log = structlog.get_logger(__name__)


class StampedTable(msgspec.Struct, frozen=True):
    """came: when it was told."""

    stamp: str
    came: datetime
    table: GatewayTable


class TableFile:
    """folder: of the gateway. The file holds keys of subscriptions; only its owner can read it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "table.json"
        self._before = folder / "table-before.json"

    def load(self) -> tuple[StampedTable | None, StampedTable | None]:
        """The last table, and one before it that was served, should the last one turn out not to be servable.

        One that cannot be read is as good as none: the servers have it.
        """
        before = _read(self._before)
        return _read(self._path) or before, before

    def save(self, table: StampedTable, before_was_served: bool) -> None:
        """Returns when it is on disk."""
        if before_was_served and self._path.exists():
            self._path.replace(self._before)
        write_private(self._path, msgspec.json.encode(table))


def _read(path: Path) -> StampedTable | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=StampedTable)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError:
        _log.error("a kept table cannot be read", path=str(path))
        return None
