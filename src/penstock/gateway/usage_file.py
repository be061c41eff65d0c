"""How far the access log was counted, and what is still to be told of it: one file, so that both change together."""

from pathlib import Path

import msgspec
import structlog

from penstock.gateway.access_log import Place
from penstock.kernel.errors import UnusableFile
from penstock.kernel.ids import new_id
from penstock.kernel.private_file import write_private
from penstock.protocol.gateway import UsageReport

_log = structlog.get_logger(__name__)


class UsageState(msgspec.Struct):
    """source: names this file for ever; reports are numbered in it from 1. unsent: reports, oldest first."""

    source: str
    number: int = 0
    place: Place = Place()
    unsent: list[UsageReport] = []


class UsageFile:
    """folder: of the gateway."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "usage.json"

    def load(self) -> UsageState:
        """The state on disk, or a new one. Raises UnusableFile when it cannot be read."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=UsageState)
        except FileNotFoundError:
            return UsageState(source=new_id().hex)
        except msgspec.DecodeError as error:
            raise UnusableFile(f"{self._path} does not hold what was counted: {error}") from None

    def save(self, state: UsageState) -> None:
        """Returns when it is on disk."""
        write_private(self._path, msgspec.json.encode(state))
