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

    def load(self) -> StampedTable | None:
        """None when there is none. One that cannot be read is as good as none: the servers have it."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=StampedTable)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError:
            _log.error("the kept table cannot be read, waiting for the servers'", path=str(self._path))
            return None

    def save(self, table: StampedTable) -> None:
        """Returns when it is on disk."""
        write_private(self._path, msgspec.json.encode(table))
