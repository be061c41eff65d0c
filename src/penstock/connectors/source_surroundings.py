"""What an event source can use of the place where it runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Forbidden


@dataclass(frozen=True)
class SourceSurroundings:
    """One event source's surroundings.

    name: the event source's. due: when the poll was due. guard: says which addresses may be connected to.
    folders: below which files may be read; None for all files.
    """

    name: str
    due: datetime
    guard: AddressGuard
    clock: Clock
    folders: Sequence[Path] | None = None

    def check_file(self, path: Path) -> Path:
        """The path without links. Raises Forbidden for one that may not be read here."""
        resolved = path.resolve()
        if self.folders is None or any(resolved.is_relative_to(folder.resolve()) for folder in self.folders):
            return resolved
        raise Forbidden(f"{path} is in none of the folders that event sources may read here")
