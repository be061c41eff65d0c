"""Runs the agent's file transfers when they are due or ordered, each never beside itself."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from types import TracebackType
from uuid import UUID

from penstock.agent.assigned.book import Drawer, Kept
from penstock.agent.assigned.task_keeper import TaskKeeper
from penstock.agent.due_times import DueTimes
from penstock.agent.entries import Entry
from penstock.agent.transfers.book import OpenRun, TransferBook
from penstock.agent.transfers.run import LiveRun, TransferRunner, ended_run, resting
from penstock.kernel.cron import Cron
from penstock.kernel.ids import new_id
from penstock.protocol.report import TickOutcome, TickReport
from penstock.protocol.transfer import Items, MftStatus, TransferItem, TransferRun, TransferStatus
from penstock.protocol.work import IntegrationStatusEnum2

_LATE = timedelta(seconds=60)
_LOOK = timedelta(hours=1)
_SUSPENDED = "agent was suspended or overloaded"
_STILL_RUNNING = "the run before is still going on"
_CUT_BY_AGENT = "the agent stopped while it ran"
_CUT_BY_STOP = "it was stopped while it ran"


class TransferKeeper(TaskKeeper[TransferItem, TransferBook]):
    """A run goes on while its transfer changes; it ends when the transfer is stopped or removed."""

    body = TransferItem

    def __init__(self, drawer: Drawer, runner: TransferRunner, zone: tzinfo) -> None:
        super().__init__(drawer)
        self._runner = runner
        self._clock = drawer.clock
        self._zone = zone
        self._live: dict[UUID, LiveRun] = {}

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for live in self._live.values():
            live.task.cancel()
        await super().__aexit__(kind, error, trace)

    def book(self, key: UUID, kept: Kept | None) -> TransferBook:
        return TransferBook(self._drawer, key, kept)

    async def ended_before(self, book: TransferBook) -> None:
        run = book.account.open
        if run is None:
            return
        ended = ended_run(book, run, self._clock, _CUT_BY_AGENT)
        ended.items = [Items(level="error", msg=_CUT_BY_AGENT, time=self._clock.now().isoformat())]
        book.account.open = None
        await book.save([book.run_entry(ended)])
        await book.note(resting(book, _CUT_BY_AGENT))

    async def forget(self, book: TransferBook) -> None:
        await self._cut(book.key, "it was deleted while it ran")
        await book.forget(TransferStatus(status=MftStatus.STOPPED))

    async def run(self, body: TransferItem, book: TransferBook) -> None:
        due_times = DueTimes((Cron.parse(body.schedule),) if body.schedule else (), self._zone)
        stopped = body.requested is not IntegrationStatusEnum2.STARTED
        if book.account.until is None:
            book.account.until = min(body.since, self._clock.now())
        passed = book.passed(body.name, body.version, due_times, self._clock.now())
        book.account.stopped = stopped or not body.schedule
        await book.save(passed)
        if stopped:
            await self._cut(book.key, _CUT_BY_STOP)
            await book.note(resting(book, None))
        elif body.run is not None and body.run != book.account.followed:
            await self._follow(body, book)
        elif book.account.open is None:
            await book.note(self._waiting(book))
        await (self._rest(body, book, due_times) if stopped else self._wait_and_run(body, book, due_times))

    async def _rest(self, body: TransferItem, book: TransferBook, due_times: DueTimes) -> None:
        """Tells now and then which due times have passed."""
        while True:
            await self._clock.sleep_until(self._clock.now() + _LOOK)
            if passed := book.passed(body.name, body.version, due_times, self._clock.now()):
                await book.save(passed)

    async def _wait_and_run(self, body: TransferItem, book: TransferBook, due_times: DueTimes) -> None:
        assert book.account.until is not None
        for cron in due_times.crons:  # one, or none
            due = cron.next_after(book.account.until, self._zone)
            while due is not None:
                await self._clock.sleep_until(due)
                await self._tick(body, book, due)
                due = cron.next_after(due, self._zone)
        await asyncio.get_running_loop().create_future()

    async def _tick(self, body: TransferItem, book: TransferBook, due: datetime) -> None:
        """Accounts for a due time, and runs when nothing is in its way; both reach the disk together."""
        reason = self._in_the_way(book, due)
        outcome = TickOutcome.FIRED
        if reason is not None:
            outcome = TickOutcome.MISSED if reason is _SUSPENDED else TickOutcome.SKIPPED
        tick = TickReport(flow=body.name, version=body.version, due=due, last_due=due, outcome=outcome, reason=reason)
        book.account.until = due
        if reason is not None:
            await book.save([book.tick_entry(tick)])
        else:
            await self._begin(body, book, [book.tick_entry(tick)], due)

    def _in_the_way(self, book: TransferBook, due: datetime) -> str | None:
        if self._clock.now() - due > _LATE:
            return _SUSPENDED
        return _STILL_RUNNING if book.account.open is not None else None

    async def _follow(self, body: TransferItem, book: TransferBook) -> None:
        """Follows an order to run; one that comes while a run goes on is met by that run."""
        book.account.followed = body.run
        if book.account.open is not None:
            await book.save()
        else:
            await self._begin(body, book, [], None, force=body.force)

    async def _begin(
        self,
        body: TransferItem,
        book: TransferBook,
        entries: Sequence[Entry],
        due: datetime | None,
        *,
        force: bool = False,
    ) -> None:
        run = OpenRun(new_id(), body.version, self._clock.now(), due)
        begun = TransferRun(id=run.id, key=book.key, version=run.version, started=run.started, due=due)
        book.account.open = run
        await book.save([*entries, book.run_entry(begun)])
        started = asyncio.Event()

        async def make() -> None:
            await started.wait()
            try:
                await self._runner.run(body, book, run, live, force=force)
            finally:
                self._live.pop(book.key, None)

        live = LiveRun(self._group.create_task(make(), name=f"transfer {body.name}"))
        self._live[book.key] = live
        started.set()

    async def _cut(self, key: UUID, reason: str) -> None:
        live = self._live.get(key)
        if live is not None:
            await live.cut(reason)

    def _waiting(self, book: TransferBook) -> TransferStatus:
        """How it stands until the next run: as the last one ended."""
        if book.status.status is MftStatus.ERROR:
            return book.status
        return resting(book, None)
