"""Environments: one for each package and version, made when first needed, on every machine that runs its code."""

import asyncio
import fcntl
import hashlib
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import penstock
from penstock.kernel.errors import Invalid
from penstock.packages.index import PackageIndex
from penstock.packages.uv import run_uv

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?", re.ASCII)
_VERSION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.+!_-]{0,62}[A-Za-z0-9])?", re.ASCII)
# A name with versions, extras and conditions: nothing that passes can be an option, a path or an address.
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[\w ,.-]*\])?[ \w.,<>=!~*+;'\"()-]*", re.ASCII)
_WHOLE = "complete"
_PLATFORM = "penstock-platform.pth"
_PASSED = ("LANG", "LC_ALL", "TZ", "TMPDIR", "PENSTOCK_AGENT_RUN")
_OVERRIDES = "overrides.txt"


@dataclass(frozen=True)
class Package:
    """A distribution and its version; without one the newest is meant."""

    name: str
    version: str | None = None

    @classmethod
    def checked(cls, name: str | None, version: str | None, fields: tuple[str, str]) -> "Package":
        """Raises Invalid. fields: how both are called. Nothing that passes can be an option or a path."""
        if not name or not _NAME.fullmatch(name):
            raise Invalid.one(fields[0], "must be the name of a package: letters, digits, '.', '_' and '-'")
        if version and not _VERSION.fullmatch(version):
            raise Invalid.one(fields[1], "must be a version like '1.2.0'")
        return cls(name, version or None)

    @property
    def key(self) -> str:
        """Names that mean the same package have the same key."""
        return f"{re.sub(r'[-_.]+', '-', self.name).lower()}-{self.version or 'newest'}"

    def __str__(self) -> str:
        return f"{self.name}=={self.version}" if self.version else self.name


@dataclass(frozen=True)
class Environment:
    """A Python environment with one package and what that needs."""

    package: Package
    python: Path

    @property
    def programs(self) -> Path:
        """The folder with the programs that the package brings."""
        return self.python.parent

    def variables(self, given: Mapping[str, str]) -> dict[str, str]:
        """What a process of the package sees of `given`, the platform's environment: next to nothing."""
        passed = {name: value for name, value in given.items() if name in _PASSED}
        return {**passed, "PATH": f"{self.programs}:{given.get('PATH', os.defpath)}"}


class Environments:
    """All environments in a folder. Several processes may use it at once.

    platform: whether this platform's own code is visible in them, too.
    """

    def __init__(self, folder: Path, index: PackageIndex, *, platform: bool = True) -> None:
        self._folder = folder
        self._index = index
        self._platform = platform
        self._turns: dict[str, asyncio.Lock] = {}

    async def ensure(self, package: Package) -> Environment:
        """The package's environment, made when it is not there. Raises InstallFailed."""
        folder = self._folder / package.key
        environment = Environment(package, folder / "bin" / "python")
        if (folder / _WHOLE).exists():
            return environment
        async with self._turn(package):
            if not (folder / _WHOLE).exists():
                await self._make([str(package)], folder)
        return environment

    async def ensure_all(self, requirements: Sequence[str]) -> Path:
        """The Python of an environment with all the requirements, like `pandas>=2`. Raises InstallFailed, Invalid."""
        for requirement in requirements:
            if not _REQUIREMENT.fullmatch(requirement):
                raise Invalid.one("AdditionalPackages", f"'{requirement}' is not a requirement like 'pandas>=2'")
        wanted = sorted(set(requirements))
        package = Package(f"flow-{hashlib.sha256(chr(10).join(wanted).encode()).hexdigest()[:20]}")
        folder = self._folder / package.key
        if not (folder / _WHOLE).exists():
            async with self._turn(package):
                if not (folder / _WHOLE).exists():
                    await self._make(wanted, folder)
        return folder / "bin" / "python"

    async def remove(self, package: Package) -> None:
        """Removes the package's environment, if there is one; from then on `ensure` makes it anew."""
        folder = self._folder / package.key
        async with self._turn(package):
            (folder / _WHOLE).unlink(missing_ok=True)
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def _make(self, requirements: Sequence[str], folder: Path) -> None:
        variables = self._index.variables
        await run_uv(["venv", "--clear", "--quiet", "--python", sys.executable, str(folder)], self._folder, variables)
        overrides = folder / _OVERRIDES
        # Whoever needs the platform gets the one that runs, not another copy.
        overrides.write_text("penstock ; python_version < '3'\n" if self._platform else "")
        try:
            await run_uv(
                [
                    "pip",
                    "install",
                    "--quiet",
                    "--python",
                    str(folder / "bin" / "python"),
                    "--overrides",
                    str(overrides),
                    # Building runs code of the package right here, where it may see too much.
                    "--no-build",
                    *self._index.options,
                    *requirements,
                ],
                self._folder,
                variables,
            )
        except BaseException:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            raise
        if self._platform:
            _show_platform(folder)
        (folder / _WHOLE).touch()

    @asynccontextmanager
    async def _turn(self, package: Package) -> AsyncIterator[None]:
        """One at a time in this process and others."""
        async with self._turns.setdefault(package.key, asyncio.Lock()):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with (self._folder / f"{package.key}.lock").open("ab") as lock:
                await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
                yield


def _show_platform(folder: Path) -> None:
    """Lets the environment's Python find this platform after everything that the package brings itself."""
    [site] = folder.glob("lib/python*/site-packages")
    own = [str(Path(penstock.__file__).parent.parent), *(path for path in sys.path if path.endswith("-packages"))]
    (site / _PLATFORM).write_text("\n".join(dict.fromkeys(own)) + "\n")
