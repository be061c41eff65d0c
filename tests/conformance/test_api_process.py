"""Packages of APIs installed and described, and their processes, on this machine alone."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.apihost.host import ApiHost, HostPolicy, Launch
from penstock.apihost.message import ApiFailed
from penstock.apihost.packages import ApiPackages
from penstock.apihost.process import ApiProcess
from penstock.apihost.proxy import Proxy
from penstock.connectors.resolution import Secrets
from penstock.packages.environment import Package
from penstock.packages.index import PackageIndex
from tests.api_packages import FICKLE, fickle_wheel

PACKAGE = Package("acme-fickle", "1.0.0")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apis")
    fickle_wheel(folder / "wheels")
    return folder


def packages_in(place: Path, wheels: Path, name: str) -> ApiPackages:
    environment = {**os.environ, "UV_CACHE_DIR": str(place / f"cache-{name}")}
    return ApiPackages(place / name, PackageIndex("none", str(wheels), environment), os.environ)


@pytest.fixture(scope="module")
def packages(place: Path) -> ApiPackages:
    return packages_in(place, place / "wheels", "environments")


@pytest.fixture
async def host(place: Path, packages: ApiPackages) -> AsyncIterator[ApiHost]:
    async with ApiHost(packages, os.environ, HostPolicy(), place) as entered:
        yield entered


async def start(host: ApiHost, secrets: Secrets | None = None, **configuration: str) -> ApiProcess:
    launch = Launch(PACKAGE, None, "fickle", "1.0", {"colour": "red", **configuration}, secrets or Secrets())
    return await host.start("fickle", "/fickle", launch)


async def test_the_newest_version_is_found_and_other_files_have_another_digest(
    place: Path, packages: ApiPackages
) -> None:
    found = await packages.describe(Package("acme-fickle"))
    assert (found.version, found.pure, [api.name for api in found.apis]) == ("1.0.0", True, ["fickle"])
    fickle_wheel(place / "others", source=FICKLE + "# changed")
    other = await packages_in(place, place / "others", "other").describe(PACKAGE)
    assert other.digest != found.digest
    await packages.ensure(PACKAGE, found.digest)
    with pytest.raises(ApiFailed, match="is not the package that was registered"):
        await packages.ensure(PACKAGE, other.digest)


async def test_an_api_runs_until_it_is_stopped_and_leaves_nothing(host: ApiHost) -> None:
    process = await start(host)
    async with Proxy(process.socket, 10, 1000) as proxy:
        assert (await proxy.get("/health", 1000))[0] == 200
    assert (process.started.openapi_path, process.started.health_path) == ("/openapi.json", "/health")
    await process.stop()
    assert not process.socket.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


async def test_one_listens_in_its_owners_folder_however_deep_that_lies(place: Path, packages: ApiPackages) -> None:
    owner = place / ("x" * 120) / ("y" * 120)
    async with ApiHost(packages, os.environ, HostPolicy(), owner) as host:
        process = await start(host)
        async with Proxy(process.socket, 10, 1000) as proxy:
            assert (await proxy.get("/health", 1000))[0] == 200
        assert [each.name for each in owner.glob("*/*")] == [process.socket.name]
        await process.stop()
        assert list(owner.glob("*/*")) == []
    assert list(owner.iterdir()) == []


async def test_one_that_ends_says_how(host: ApiHost) -> None:
    process = await start(host)
    os.kill(process.pid, signal.SIGKILL)
    assert await process.ended() == "the process was ended by signal 9"
    await process.stop()


@pytest.mark.parametrize(
    ("fail", "reason"),
    [("factory", "RuntimeError: cannot be made"), ("startup", "no database"), ("exit", "ended with 3")],
)
async def test_one_that_does_not_start_says_why(host: ApiHost, fail: str, reason: str) -> None:
    with pytest.raises(ApiFailed, match=reason):
        await start(host, fail=fail)


async def test_an_api_that_the_package_does_not_have_is_told(host: ApiHost) -> None:
    launch = Launch(PACKAGE, None, "nothing", "1.0", {}, Secrets())
    with pytest.raises(ApiFailed, match=r"the package has no API nothing 1\.0; broken: AttributeError"):
        await host.start("nothing", "/nothing", launch)
