"""One run of a file transfer, from its first report to its last."""

import asyncio

import msgspec
import structlog

from penstock.agent.transfers.book import OpenRun, TransferBook
from penstock.agent.transfers.build import TransferBuilder
from penstock.agent.transfers.record import RunRecord
from penstock.kernel.clock import Clock
from penstock.kernel.errors import PenstockError
from penstock.protocol.transfer import Items, MftStatus, TransferItem, TransferRun, TransferStatus
from penstock.rclone.pool import WorkerPool
from penstock.rclone.transfer import transfer

_TOLD_SECONDS = 1.0
_log = structlog.get_logger(__name__)


class LiveRun:
    """A run and the task that makes it. reason: why it is being cut, once it is."""

    def __init__(self, task: "asyncio.Task[None]") -> None:
        self.task = task
        self.reason = ""

    async def cut(self, reason: str) -> None:
        """Returns when it has ended, and that is noted."""
        self.reason = reason
        self.task.cancel()
        await asyncio.wait({self.task})


class TransferRunner:
    """Makes runs, one process each."""

    def __init__(self, builder: TransferBuilder, pool: WorkerPool, clock: Clock) -> None:
        self._builder = builder
        self._pool = pool
        self._clock = clock

    async def run(self, item: TransferItem, book: TransferBook, run: OpenRun, live: LiveRun, *, force: bool) -> None:
        """Makes the run, whose beginning is on disk already; notes how it ended, whatever happens."""
        record = RunRecord(book.key, run, item, self._clock)
        error: str | None = "the run ended with an unexpected error"
        try:
            await self._make(item, book, run, record, force=force)
            error = None
        except PenstockError as failure:
            error = failure.detail
        except asyncio.CancelledError:
            error = live.reason or "the agent was stopped while it ran"
            raise
        except Exception as failure:  # noqa: BLE001 - one run must not end the others; it is told as failed
            _log.error("transfer ended", transfer=item.name, exc_info=failure)
        finally:
            # Whoever ends the run waits for what it has to say.
            await asyncio.shield(self._finish(book, run, record, error))

    async def _make(
        self, item: TransferItem, book: TransferBook, run: OpenRun, record: RunRecord, *, force: bool
    ) -> None:
        wanted = await self._builder.build(item, force=force)
        async with self._pool.worker() as worker:
            making = asyncio.ensure_future(transfer(worker, wanted, record))
            try:
                while not making.done():
                    await self._tell(book, run, record)
                    await asyncio.wait({making}, timeout=_TOLD_SECONDS)
                await making
            finally:
                making.cancel()
                await asyncio.wait({making})

    async def _tell(self, book: TransferBook, run: OpenRun, record: RunRecord) -> None:
        """How far it is, and the files so far."""
        status = TransferStatus(
            status=MftStatus.RUNNING,
            run=run.id,
            order=book.account.followed,
            started=run.started,
            stats=record.stats,
        )
        await book.note(status)
        if files := record.take_files():
            await book.save_files(files)

    async def _finish(self, book: TransferBook, run: OpenRun, record: RunRecord, error: str | None) -> None:
        if files := record.take_files():
            await book.save_files(files)
        items = record.items()
        if error is not None:
            items.append(Items(level="error", msg=error, time=self._clock.now().isoformat()))
        ended = ended_run(book, run, self._clock, error)
        book.account.open = None
        await book.save(
            [book.run_entry(msgspec.structs.replace(ended, files=record.files, items=items, stats=record.stats))]
        )
        await book.note(resting(book, error))


def ended_run(book: TransferBook, run: OpenRun, clock: Clock, error: str | None) -> TransferRun:
    """What is told of a run when it has ended."""
    finished = max(clock.now(), run.started)
    return TransferRun(
        id=run.id, key=book.key, version=run.version, started=run.started, due=run.due, finished=finished, error=error
    )


def resting(book: TransferBook, error: str | None) -> TransferStatus:
    """How a transfer stands that has no run under way."""
    if error is not None:
        return TransferStatus(status=MftStatus.ERROR, message=error, order=book.account.followed)
    status = MftStatus.STOPPED if book.account.stopped else MftStatus.RUNNING
    return TransferStatus(status=status, order=book.account.followed)
