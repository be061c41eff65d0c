"""What becomes of a transfer when something is wrong: the cause in plain words, and the other files transferred."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.rclone.arguments import read_arguments
from penstock.rclone.failure import TransferFailed
from penstock.rclone.pool import WorkerPool
from penstock.rclone.remote import Remote
from penstock.rclone.stats import Stats
from penstock.rclone.transfer import Listener, Transfer, TransferCommand, transfer
from tests.conformance.storage_transfers import Transfers, files
from tests.storage_server import PASSWORD, StorageServer, storage_server

BOTH = {"one.txt": "one", "deep/two.csv": "two,2"}


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


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that holds 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]).returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


async def test_a_full_disk_is_named_and_smaller_files_still_go_through(
    transfers: Transfers, source: StorageServer, small_disk: Path
) -> None:
    (source.folder / "large").write_bytes(bytes(200_000))
    destination = StorageServer("local", {}, small_disk, str(small_disk))
    with pytest.raises(TransferFailed, match="the disk is full"):
        await transfers.make(TransferCommand.COPY, transfers.remote(source), transfers.remote(destination))
    assert (small_disk / "one.txt").read_text() == "one"


async def test_a_file_that_vanishes_is_named_and_the_others_are_transferred(
    transfers: Transfers, source: StorageServer, tmp_path: Path
) -> None:
    (source.folder / "first").write_bytes(bytes(60_000))
    (source.folder / "vanishing").write_text("x" * 100)

    class Thief(Listener):
        def progress(self, stats: Stats) -> None:
            (source.folder / "vanishing").unlink(missing_ok=True)

    async with storage_server("local", tmp_path / "there") as destination:
        with pytest.raises(TransferFailed, match="vanishing"):
            await transfers.make(
                TransferCommand.COPY,
                transfers.remote(source),
                transfers.remote(destination),
                # One after the other, the large one first.
                arguments="--retries 1 --transfers 1 --check-first --order-by size,descending --bwlimit 30k",
                listener=Thief(),
            )
        assert {"first", "one.txt", "deep/two.csv"} <= files(destination.folder).keys()


async def test_a_lost_connection_is_told_and_the_next_run_completes_it(
    transfers: Transfers, source: StorageServer, tmp_path: Path
) -> None:
    (source.folder / "large").write_bytes(bytes(300_000))
    served = tmp_path / "served"
    impatient = "--retries 1 --low-level-retries 1 --timeout 2s --contimeout 2s"
    async with storage_server("sftp", served) as destination:

        class Cutter(Listener):
            def progress(self, stats: Stats) -> None:
                assert destination.process is not None
                if stats.bytes and destination.process.returncode is None:
                    destination.process.kill()

        with pytest.raises(TransferFailed, match=r"connection|answers|time"):
            await transfers.make(
                TransferCommand.COPY,
                transfers.remote(source),
                transfers.remote(destination),
                arguments=f"{impatient} --bwlimit 30k",
                listener=Cutter(),
            )
    async with storage_server("sftp", served) as destination:
        await transfers.make(TransferCommand.COPY, transfers.remote(source), transfers.remote(destination))
        assert (served / "large").stat().st_size == 300_000
