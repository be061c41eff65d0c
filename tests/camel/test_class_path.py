"""The jars of a flow: fetched once, remembered, and not asked for again and again when they are missing."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from penstock.flow.camel.class_path import ClassPaths, PackagesMissing
from penstock.flow.camel.installation import CamelInstallation


class EmptyRegistry:
    def __init__(self) -> None:
        self.asked = 0
        self.address = ""

    async def answer(self, request: web.BaseRequest) -> web.Response:
        self.asked += 1
        return web.Response(status=404)


@pytest.fixture
async def registry() -> AsyncIterator[EmptyRegistry]:
    registry = EmptyRegistry()
    runner = web.ServerRunner(web.Server(registry.answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    registry.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield registry
    await runner.cleanup()


async def test_without_packages_it_is_the_runtime(tmp_path: Path) -> None:
    installation = CamelInstallation.in_folder(tmp_path)
    assert await ClassPaths(tmp_path, "", {}).of(installation, []) == installation.class_path


async def test_a_missing_package_is_named_and_not_asked_for_again_at_once(
    registry: EmptyRegistry, tmp_path: Path
) -> None:
    class_paths = ClassPaths(tmp_path / "packages", registry.address, os.environ)
    installation = CamelInstallation.in_folder(tmp_path)
    with pytest.raises(PackagesMissing):
        await class_paths.of(installation, ["org.example:nothing:1"])
    asked = registry.asked
    assert asked
    with pytest.raises(PackagesMissing):
        await class_paths.of(installation, ["org.example:nothing:1"])
    assert registry.asked == asked


async def test_what_is_no_coordinate_is_told(tmp_path: Path) -> None:
    class_paths = ClassPaths(tmp_path / "packages", "", os.environ)
    with pytest.raises(PackagesMissing, match="'requests' is not a Maven coordinate"):
        await class_paths.of(CamelInstallation.in_folder(tmp_path), ["requests"])
