"""The jars of one flow: the runtime's and those of the packages it needs beside."""

import asyncio
import hashlib
import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec

from penstock.flow.camel.fetch_order import Fetched, Order
from penstock.flow.camel.installation import CamelInstallation
from penstock.kernel.errors import PenstockError
from penstock.packages.index import PackageIndex

_SECONDS = 180.0
_QUIET_SECONDS = 60.0
_KNOWN = "class-paths"


class PackagesMissing(PenstockError):
    """A package that the flow needs cannot be had; the detail says which, and why."""

    code = "packages-missing"
    title = "A package of the flow is missing"


class ClassPaths:
    """folder: keeps what was fetched. mirror: of the registry. environment: the way to the registry is in it."""

    def __init__(self, folder: Path, mirror: str, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._mirror = mirror
        self._environment = PackageIndex(environment=environment).variables
        self._turn = asyncio.Lock()
        self._failures: dict[Path, tuple[float, str]] = {}

    async def of(self, installation: CamelInstallation, packages: Collection[str]) -> list[Path]:
        """The class path; fetches what is not there. Raises PackagesMissing."""
        if not packages:
            return installation.class_path
        known = self._known(installation, packages)
        async with self._turn:  # one at a time: two would fetch the same files
            jars = _read(known)
            if jars is None:
                jars = await self._fetch_again(known, installation, packages)
                known.parent.mkdir(parents=True, exist_ok=True)
                known.write_bytes(msgspec.json.encode([str(jar) for jar in jars]))
        return [*installation.class_path, *jars]

    def _known(self, installation: CamelInstallation, packages: Collection[str]) -> Path:
        key = "\n".join([installation.version, *sorted(packages)])
        return self._folder / _KNOWN / f"{hashlib.sha256(key.encode()).hexdigest()}.json"

    async def _fetch_again(self, known: Path, installation: CamelInstallation, packages: Collection[str]) -> list[Path]:
        """Fetches, unless that has failed just now: flows are tried again more often than registries change."""
        now = asyncio.get_running_loop().time()
        at, problem = self._failures.get(known, (0.0, ""))
        if problem and now - at < _QUIET_SECONDS:
            raise PackagesMissing(problem)
        try:
            return await self._fetch(installation, packages)
        except PackagesMissing as missing:
            self._failures[known] = now, missing.detail
            raise

    async def _fetch(self, installation: CamelInstallation, packages: Collection[str]) -> list[Path]:
        order = Order(sorted(packages), str(self._folder / "repository"), str(installation.repository), self._mirror)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "penstock.flow.camel.fetching",
            env={**self._environment, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        names = ", ".join(sorted(packages))
        try:
            async with asyncio.timeout(_SECONDS):
                answer, _ = await process.communicate(msgspec.json.encode(order))
        except TimeoutError:
            raise PackagesMissing(f"{names}: not fetched within {_SECONDS:.0f} s") from None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise PackagesMissing(f"{names}: the program that fetches them ended with {process.returncode}")
        fetched = msgspec.json.decode(answer, type=Fetched)
        if fetched.problem is not None:
            raise PackagesMissing(fetched.problem)
        return [Path(jar) for jar in fetched.jars]


def _read(known: Path) -> list[Path] | None:
    """None when it is not known, or a file of it has gone."""
    try:
        jars = [Path(jar) for jar in msgspec.json.decode(known.read_bytes(), type=list[str])]
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return jars if all(jar.exists() for jar in jars) else None
