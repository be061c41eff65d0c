"""The two stores, as one parametrised fixture: every test here runs on both."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from penstock.engine.engine import Engine
from penstock.kernel.clock import ManualClock
from penstock.rclone.backend import Backends, read_backends
from penstock.rclone.pool import WorkerPool
from penstock.store.connect import store_for
from penstock.store.store import Store
from tests.conformance.kernels import running_engine
from tests.conformance.library import BOOKS, LOANS
from tests.conformance.storage_transfers import Transfers
from tests.postgres import PostgresServer
from tests.storage_server import StorageServer, storage_server


@dataclass(frozen=True)
class Database:
    """An empty database and the clock of the stores on it."""

    url: str
    clock: ManualClock

    def store(self) -> Store:
        """Another store on it, as another replica would have; not opened yet."""
        return store_for(self.url, self.clock)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 3, 1, 12, tzinfo=UTC))


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Database:
    if request.param == "sqlite":
        return Database(f"sqlite:///{tmp_path / 'store.db'}", clock)
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return Database(server.new_database(), clock)


@pytest.fixture
async def store(database: Database) -> AsyncIterator[Store]:
    store = database.store()
    await store.open([BOOKS], [LOANS])
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
def now(clock: ManualClock) -> datetime:
    return clock.now()


@pytest.fixture(scope="module")
async def backends() -> Backends:
    return await read_backends()


@pytest.fixture(scope="module")
async def pool(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[WorkerPool]:
    async with WorkerPool(tmp_path_factory.mktemp("workers"), {}, parallel=2) as pool:
        yield pool


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[StorageServer]:
    async with storage_server("local", tmp_path / "source") as server:
        (server.folder / "deep").mkdir()
        (server.folder / "one.txt").write_text("one")
        (server.folder / "deep" / "two.csv").write_text("two,2")
        yield server


@pytest.fixture
def transfers(pool: WorkerPool, backends: Backends) -> Transfers:
    return Transfers(pool, backends)


@pytest.fixture(scope="session")
async def kernels(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    """An engine of Jupyter kernels; tests use notebooks of their own."""
    async with running_engine(tmp_path_factory.mktemp("kernels")) as engine:
        yield engine
