"""Transfers between storage servers, and what they tell."""

from pathlib import Path

from penstock.rclone.arguments import read_arguments
from penstock.rclone.backend import Backends
from penstock.rclone.filters import read_filters
from penstock.rclone.log_line import LogLine
from penstock.rclone.pool import WorkerPool
from penstock.rclone.remote import Remote
from penstock.rclone.stats import Stats
from penstock.rclone.transfer import Listener, Transfer, TransferCommand, transfer
from tests.storage_server import StorageServer


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
        listener: Listener | None = None,
    ) -> Stats:
        read, errors = read_arguments(arguments)
        rules, faults = read_filters(filters)
        assert not errors
        assert not faults
        self.told = Told()
        wanted = Transfer(command, source, destination, rules, read, force)
        async with self._pool.worker() as worker:
            return await transfer(worker, wanted, listener or self.told)


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
