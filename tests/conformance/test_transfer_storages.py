"""What a transfer does, the same for every kind of storage."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.rclone.arguments import read_arguments
from penstock.rclone.backend import Backends, read_backends
from penstock.rclone.failure import TransferFailed
from penstock.rclone.filters import read_filters
from penstock.rclone.log_line import LogLine
from penstock.rclone.pool import WorkerPool
from penstock.rclone.remote import Remote
from penstock.rclone.stats import Stats
from penstock.rclone.transfer import Listener, Transfer, TransferCommand, transfer
from tests.storage_server import PASSWORD, StorageServer, storage_server

STORAGES = ["local", "sftp", "webdav", "s3"]


class Told(Listener):
    def __init__(self) -> None:
        self.lines: list[LogLine] = []
        self.stats: list[Stats] = []

    def line(self, line: LogLine) -> None:
        self.lines.append(line)

    def progress(self, stats: Stats) -> None:
        self.stats.append(stats)

    @property
    def transferred(self) -> set[str]:
        return {line.object for line in self.lines if line.was_transferred}


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


@pytest.fixture(params=STORAGES)
async def destination(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[StorageServer]:
    async with storage_server(request.param, tmp_path / "served" / "bucket") as server:
        yield server


class Transfers:
    def __init__(self, pool: WorkerPool, backends: Backends) -> None:
        self._pool = pool
        self._backends = backends
        self.told = Told()

    def remote(self, server: StorageServer, **changed: str) -> Remote:
        backend = self._backends.find(server.type)
        assert backend is not None
        return Remote(backend, {**server.variables, **changed}, server.root)

    async def make(
        self,
        command: TransferCommand,
        source: Remote,
        destination: Remote,
        *,
        arguments: str = "--retries 1",
        filters: str = "",
        force: bool = False,
    ) -> Stats:
        read, errors = read_arguments(arguments)
        rules, faults = read_filters(filters)
        assert not errors
        assert not faults
        self.told = Told()
        wanted = Transfer(command, source, destination, rules, read, force)
        async with self._pool.worker() as worker:
            return await transfer(worker, wanted, self.told)


@pytest.fixture
def transfers(pool: WorkerPool, backends: Backends) -> Transfers:
    return Transfers(pool, backends)


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


BOTH = {"one.txt": "one", "deep/two.csv": "two,2"}


async def test_a_copy_has_every_file_and_says_so(
    transfers: Transfers, source: StorageServer, destination: StorageServer
) -> None:
    stats = await transfers.make(TransferCommand.COPY, transfers.remote(source), transfers.remote(destination))
    assert files(destination.folder) == BOTH
    assert transfers.told.transferred == set(BOTH)
    assert (stats.transfers, stats.bytes, stats.errors) == (2, 8, 0)
    assert transfers.told.stats[-1] == stats


async def test_files_come_back_as_they_were(
    transfers: Transfers, source: StorageServer, destination: StorageServer, tmp_path: Path
) -> None:
    await transfers.make(TransferCommand.COPY, transfers.remote(source), transfers.remote(destination))
    async with storage_server("local", tmp_path / "back") as back:
        await transfers.make(
            TransferCommand.COPY, transfers.remote(destination), transfers.remote(back), arguments="--verify"
        )
        assert files(back.folder) == BOTH


async def test_a_copy_leaves_out_what_is_there_already(
    transfers: Transfers, source: StorageServer, destination: StorageServer
) -> None:
    pair = transfers.remote(source), transfers.remote(destination)
    await transfers.make(TransferCommand.COPY, *pair)
    assert (await transfers.make(TransferCommand.COPY, *pair)).transfers == 0
    assert transfers.told.transferred == set()


async def test_a_move_leaves_nothing_behind(
    transfers: Transfers, source: StorageServer, destination: StorageServer
) -> None:
    await transfers.make(TransferCommand.MOVE, transfers.remote(source), transfers.remote(destination))
    assert files(source.folder) == {}
    assert files(destination.folder) == BOTH


async def test_a_sync_deletes_what_the_source_lacks(
    transfers: Transfers, source: StorageServer, destination: StorageServer
) -> None:
    pair = transfers.remote(source), transfers.remote(destination)
    await transfers.make(TransferCommand.COPY, *pair)
    (source.folder / "one.txt").unlink()
    stats = await transfers.make(TransferCommand.SYNC, *pair)
    assert files(destination.folder) == {"deep/two.csv": "two,2"}
    assert stats.deletes == 1
    assert [line.object for line in transfers.told.lines if line.was_deleted] == ["one.txt"]


async def test_a_sync_that_would_delete_too_much_changes_nothing(
    transfers: Transfers, source: StorageServer, destination: StorageServer
) -> None:
    pair = transfers.remote(source), transfers.remote(destination)
    await transfers.make(TransferCommand.COPY, *pair)
    for path in [*source.folder.rglob("*.*")]:
        path.unlink()
    (source.folder / "new.txt").write_text("new")
    with pytest.raises(TransferFailed, match="would delete 2 of 2 files"):
        await transfers.make(TransferCommand.SYNC, *pair)
    assert files(destination.folder) == BOTH
    await transfers.make(TransferCommand.SYNC, *pair, force=True)
    assert files(destination.folder) == {"new.txt": "new"}


async def test_filters_choose_files(transfers: Transfers, source: StorageServer, destination: StorageServer) -> None:
    pair = transfers.remote(source), transfers.remote(destination)
    await transfers.make(TransferCommand.COPY, *pair, filters="# only tables\n*.csv\n")
    assert files(destination.folder) == {"deep/two.csv": "two,2"}
    await transfers.make(TransferCommand.COPY, *pair, filters="- *.csv")
    assert files(destination.folder) == BOTH


async def test_a_file_that_fails_is_named_and_the_others_are_transferred(
    transfers: Transfers, source: StorageServer, tmp_path: Path
) -> None:
    async with storage_server("local", tmp_path / "full") as destination:
        (destination.folder / "one.txt").mkdir()
        (destination.folder / "one.txt" / "inside").write_text("in the way")
        with pytest.raises(TransferFailed, match=r"one\.txt"):
            await transfers.make(TransferCommand.COPY, transfers.remote(source), transfers.remote(destination))
        assert (destination.folder / "deep" / "two.csv").read_text() == "two,2"


@pytest.mark.parametrize("type", ["sftp", "webdav", "s3"])
async def test_wrong_credentials_are_told_in_plain_words_without_them(
    transfers: Transfers, source: StorageServer, tmp_path: Path, type: str
) -> None:
    wrong = "another secret"
    async with storage_server(type, tmp_path / "served" / "bucket") as server:
        secret = "secret_access_key" if type == "s3" else "pass"
        with pytest.raises(TransferFailed, match=r"credentials|does not allow") as failed:
            await transfers.make(
                TransferCommand.COPY, transfers.remote(source), transfers.remote(server, **{secret: wrong})
            )
    told = failed.value.detail + "".join(f"{line.msg}{line.object}" for line in transfers.told.lines)
    assert wrong not in told
    assert PASSWORD not in told


async def test_a_server_whose_host_key_nobody_named_is_refused(
    transfers: Transfers, source: StorageServer, tmp_path: Path
) -> None:
    async with storage_server("sftp", tmp_path / "served") as server:
        with pytest.raises(TransferFailed, match="host_keys"):
            await transfers.make(
                TransferCommand.COPY, transfers.remote(source), transfers.remote(server, accept_any_host_key="false")
            )
        other = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
        with pytest.raises(TransferFailed, match="does not show the host key"):
            await transfers.make(
                TransferCommand.COPY,
                transfers.remote(source),
                transfers.remote(server, accept_any_host_key="false", host_keys=other),
            )


async def test_a_storage_that_is_away_is_told_in_plain_words(
    transfers: Transfers, source: StorageServer, tmp_path: Path
) -> None:
    async with storage_server("webdav", tmp_path / "served") as server:
        assert server.process is not None
        server.process.kill()
        await server.process.wait()
        with pytest.raises(TransferFailed, match="nothing answers"):
            await transfers.make(
                TransferCommand.COPY,
                transfers.remote(source),
                transfers.remote(server),
                arguments="--retries 1 --low-level-retries 1",
            )


async def test_a_thousand_small_files_are_each_told(
    transfers: Transfers, source: StorageServer, tmp_path: Path
) -> None:
    names = {f"many/{number}.txt" for number in range(1000)}
    (source.folder / "many").mkdir()
    for name in names:
        (source.folder / name).write_text(name)
    async with storage_server("local", tmp_path / "there") as destination:
        await transfers.make(TransferCommand.COPY, transfers.remote(source), transfers.remote(destination))
    assert transfers.told.transferred == names | set(BOTH)


async def test_a_process_that_is_killed_fails_its_transfer_and_is_replaced(
    pool: WorkerPool, transfers: Transfers, source: StorageServer, tmp_path: Path
) -> None:
    (source.folder / "large").write_bytes(bytes(200_000))
    slow, _ = read_arguments("--bwlimit 10k --retries 1")

    async def killed(pair: tuple[Remote, Remote]) -> None:
        async with pool.worker() as worker:

            class Killer(Listener):
                def progress(self, stats: Stats) -> None:
                    worker.kill()

            await transfer(worker, Transfer(TransferCommand.COPY, *pair, arguments=slow), Killer())

    async with storage_server("local", tmp_path / "there") as destination:
        pair = transfers.remote(source), transfers.remote(destination)
        with pytest.raises(TransferFailed, match="rclone ended"):
            await killed(pair)
        assert not (destination.folder / "large").exists()
        await transfers.make(TransferCommand.COPY, *pair)
        assert (destination.folder / "large").stat().st_size == 200_000
