"""The machine that hosts APIs: its packages, and the folder in which their processes listen."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from penstock.apihost.message import Hosting
from penstock.apihost.packages import ApiPackages
from penstock.apihost.process import ApiProcess
from penstock.connectors.resolution import Secrets
from penstock.kernel.run_folder import RunFolder
from penstock.packages.environment import Package

_SOCKETS = ".api-sockets-"  # no package has a name like that


@dataclass(frozen=True)
class HostPolicy:
    """How endpoints are treated. Times are seconds.

    pause: before a further try to initialize; tries: until an endpoint is given up. steady: who ran for so long has
    not failed before. probe: between two looks at whether it is well. patience: until an answer begins.
    most: bytes of a request's body.
    """

    pause: float = 5.0
    tries: int = 3
    steady: float = 60.0
    probe: float = 10.0
    probe_patience: float = 5.0
    patience: float = 60.0
    most: int = 64 * 1024 * 1024


@dataclass(frozen=True)
class Launch:
    """An API to be started. digest: see ApiPackages.ensure. configuration: ready for use. secrets: those in it.

    packages: where the package is installed, other than the host's own place.
    """

    package: Package
    digest: str | None
    api: str
    version: str
    configuration: Mapping[str, Any]
    secrets: Secrets
    packages: ApiPackages | None = None


class ApiHost:
    """Works within `async with`. variables: of the platform; packages see next to nothing of them.

    owner: the folder of whoever hosts, in which the processes get one to listen in.
    """

    def __init__(self, packages: ApiPackages, variables: Mapping[str, str], policy: HostPolicy, owner: Path) -> None:
        self._packages = packages
        self.policy = policy
        self._variables = variables
        self._numbers = itertools.count(1)
        self._owner = owner
        self._folder: RunFolder | None = None

    async def __aenter__(self) -> Self:
        self._folder = RunFolder(self._owner, _SOCKETS)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.close()

    async def start(self, name: str, route: str, launch: Launch) -> ApiProcess:
        """Installs the package where it is not, and starts the API. Raises InstallFailed, ApiFailed."""
        assert self._folder is not None
        environment = await (launch.packages or self._packages).ensure(launch.package, launch.digest)
        socket = f"{next(self._numbers)}.sock"
        hosting = Hosting(
            package=launch.package.name,
            api=launch.api,
            version=launch.version,
            configuration=dict(launch.configuration),
            socket=str(self._folder.path / socket),
            root_path=route.rstrip("/"),
        )
        reached = self._folder.reach(socket)
        return await ApiProcess.start(name, environment, hosting, reached, self._variables, launch.secrets.hidden)
