"""An installed Camel: a folder `camel-VERSION` with its jars, complete or not there."""

from collections.abc import Iterable
from pathlib import Path
from typing import Self

import msgspec

from penstock.flow.camel.release import VERSION, locked
from penstock.kernel.errors import PenstockError

INSTALL_COMMAND = "penstock engine install camel"
_PREFIX = "camel-"
_JARS = "repository"
_COMPLETE = "complete"


class NotInstalled(PenstockError):
    """Camel is not installed where the agent looks for it."""

    code = "camel-not-installed"
    title = "Camel is not installed"


class CamelInstallation(msgspec.Struct, frozen=True):
    """folder: the installation's own. version: of Camel."""

    folder: Path
    version: str

    @classmethod
    def in_folder(cls, engines: Path) -> Self:
        """Where this release belongs below `engines`, there or not."""
        return cls(engines / f"{_PREFIX}{VERSION}", VERSION)

    @classmethod
    def find(cls, engines: Iterable[Path]) -> Self:
        """The first complete one of this release in the folders. Raises NotInstalled, naming the command."""
        looked = list(engines)
        for folder in looked:
            installation = cls.in_folder(folder)
            if installation.is_complete:
                return installation
        where = " nor in ".join(str(folder) for folder in looked)
        raise NotInstalled(f"Camel {VERSION} is not in {where}; install it with `{INSTALL_COMMAND}`")

    @classmethod
    def all_in(cls, engines: Path) -> list[Self]:
        """Every complete one in the folder, of whatever release."""
        folders = sorted(engines.glob(f"{_PREFIX}*"))
        found = [cls(folder, folder.name.removeprefix(_PREFIX)) for folder in folders]
        return [each for each in found if each.is_complete]

    @property
    def is_complete(self) -> bool:
        return (self.folder / _COMPLETE).exists()

    @property
    def repository(self) -> Path:
        """The jars, in Maven's layout."""
        return self.folder / _JARS

    @property
    def class_path(self) -> list[Path]:
        """The jars of the runtime."""
        return [self.repository / coordinate.path for coordinate in locked()]

    def finish(self) -> None:
        """Marks it complete."""
        (self.folder / _COMPLETE).touch()
