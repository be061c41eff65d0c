"""What a transfer does, the same for every kind of storage."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.rclone.failure import TransferFailed
from penstock.rclone.transfer import TransferCommand
from tests.conformance.storage_transfers import Transfers, files
from tests.storage_server import StorageServer, storage_server

STORAGES = ["local", "sftp", "webdav", "s3"]


@pytest.fixture(params=STORAGES)
async def destination(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[StorageServer]:
    async with storage_server(request.param, tmp_path / "served" / "bucket") as server:
        yield server


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
