"""The packages of APIs on this machine: each in an environment of its own, described once it is there."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from penstock.apihost.message import ApiFailed, PackageDescription
from penstock.apihost.process import describe
from penstock.packages.environment import Environment, Environments, Package
from penstock.packages.index import PackageIndex


class ApiPackages:
    """Environments in a folder. variables: of the platform; packages see next to nothing of them."""

    def __init__(self, folder: Path, index: PackageIndex, variables: Mapping[str, str]) -> None:
        self._environments = Environments(folder, index)
        self._variables = variables
        self._resolving = asyncio.Lock()
        self._verified: set[tuple[Package, str]] = set()

    async def describe(self, package: Package) -> PackageDescription:
        """Installs a package, the newest version when it has none, and says what it brings.

        Raises InstallFailed, ApiFailed.
        """
        if package.version is not None:
            return await describe(await self._environments.ensure(package), self._variables)
        async with self._resolving:  # nobody else may need the environment that is removed here
            try:
                return await describe(await self._environments.ensure(package), self._variables)
            finally:
                # From now on it is the version found, everywhere.
                await self._environments.remove(package)

    async def ensure(self, package: Package, digest: str | None) -> Environment:
        """The environment of a package. digest: what its files must be, as another machine found them.

        Raises InstallFailed, ApiFailed.
        """
        environment = await self._environments.ensure(package)
        if digest is not None and (package, digest) not in self._verified:
            found = (await describe(environment, self._variables)).digest
            if found != digest:
                await self._environments.remove(package)
                raise ApiFailed(
                    f"{package} is not the package that was registered: its files are {found}, not {digest}"
                )
            self._verified.add((package, digest))
        return environment

    async def remove(self, package: Package) -> None:
        """Removes the package's environment, if there is one."""
        await self._environments.remove(package)
