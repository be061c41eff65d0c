"""Camel is installed whole and checked, or not at all."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from penstock.flow.camel.coordinate import Coordinate
from penstock.flow.camel.installation import CamelInstallation
from penstock.flow.camel.installer import install
from penstock.flow.camel.release import locked
from penstock.flow.camel.repository import FetchFailed, Repository


class Registry:
    """A Maven registry. files: what it has. broken: paths whose content it changes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.broken: set[str] = set()
        self.asked: list[str] = []
        self.address = ""

    async def answer(self, request: web.BaseRequest) -> web.Response:
        path = request.path.lstrip("/")
        self.asked.append(path)
        file = self.folder / path
        if not file.is_file():
            return web.Response(status=404)
        return web.Response(body=b"x" + file.read_bytes() if path in self.broken else file.read_bytes())


@pytest.fixture
async def registry(engines: Path) -> AsyncIterator[Registry]:
    """With the files of a real installation."""
    registry = Registry(CamelInstallation.in_folder(engines).repository)
    runner = web.ServerRunner(web.Server(registry.answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    registry.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield registry
    await runner.cleanup()


def _silent(done: int, files: int, size: int) -> None: ...


async def test_an_installation_has_every_file_of_the_lock(registry: Registry, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    installation = await asyncio.to_thread(
        install, tmp_path, registry.address, lambda done, files, size: told.append((done, files))
    )
    assert all(path.exists() for path in installation.class_path)
    assert told[-1] == (len(locked()), len(locked()))
    assert CamelInstallation.find([tmp_path]) == installation
    assert CamelInstallation.all_in(tmp_path) == [installation]


async def test_a_file_that_is_not_the_one_of_the_lock_stops_it_and_the_rest_is_kept(
    registry: Registry, tmp_path: Path
) -> None:
    last = list(locked())[-1]
    registry.broken.add(last.path)
    with pytest.raises(FetchFailed, match=rf"{last.artifact}.*checksum"):
        await asyncio.to_thread(install, tmp_path, registry.address, _silent)
    assert CamelInstallation.all_in(tmp_path) == []
    registry.broken.clear()
    registry.asked.clear()
    await asyncio.to_thread(install, tmp_path, registry.address, _silent)
    assert len(registry.asked) < len(locked())


async def test_a_file_without_pinned_checksum_is_checked_by_the_registrys(registry: Registry, tmp_path: Path) -> None:
    some = next(iter(locked()))
    with Repository(tmp_path, registry.address) as repository, pytest.raises(FetchFailed, match="no checksum"):
        await asyncio.to_thread(repository.fetch, some)
    assert not (tmp_path / some.path).exists()


async def test_what_the_registry_lacks_is_named(registry: Registry, tmp_path: Path) -> None:
    with (
        Repository(tmp_path, registry.address) as repository,
        pytest.raises(FetchFailed, match=r"org\.example:none:1 is not in the registry 127\.0\.0\.1"),
    ):
        await asyncio.to_thread(repository.fetch, Coordinate("org.example", "none", "1"))


def test_a_registry_that_is_away_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FetchFailed, match=r"cannot be reached.*--mirror"):
        install(tmp_path, "http://127.0.0.1:9", _silent)


@pytest.mark.parametrize("text", ["a:b", "a:b:c:d:e", "../a:b:1", "a:b:1/..", "a b:c:1", ""])
def test_what_is_no_coordinate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a Maven coordinate"):
        Coordinate.parse(text)
