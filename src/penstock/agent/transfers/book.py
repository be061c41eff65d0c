"""What the agent keeps of a file transfer: how far its due times are accounted for, and the run under way."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from penstock.agent.assigned.book import Book, Drawer, Kept
from penstock.agent.due_times import DueTimes
from penstock.agent.entries import Channel, Entry, Part
from penstock.kernel.wire import encode
from penstock.protocol.report import TickOutcome, TickReport
from penstock.protocol.transfer import MftStatus, TransferredFile, TransferRun, TransferStatus, TransferTick

CHANNEL = Channel.TRANSFERS
AGENT_AWAY = "agent away"
STOPPED = "stopped"


class OpenRun(msgspec.Struct, frozen=True):
    """A run under way. due: the tick that it is for."""

    id: UUID
    version: str
    started: datetime
    due: datetime | None = None


class Account(msgspec.Struct):
    """until: every due time up to here is told; None before the transfer's first moment here.

    stopped: it has been so since. followed: the latest order to run that was followed. open: the run under way.
    """

    until: datetime | None = None
    stopped: bool = False
    followed: UUID | None = None
    open: OpenRun | None = None


class TransferBook(Book[TransferStatus]):
    """Account, ticks, runs and files reach the disk together."""

    def __init__(self, drawer: Drawer, key: UUID, kept: Kept | None) -> None:
        super().__init__(drawer, key, kept, TransferStatus(status=MftStatus.STOPPED))
        self._outbox = drawer.outbox
        self.account = Account() if self.progress is None else msgspec.json.decode(self.progress, type=Account)

    async def save(self, entries: Sequence[Entry] = ()) -> None:
        """Brings the account to the disk, with what is to be reported."""
        await self.advance(encode(self.account), entries)

    async def save_files(self, files: Sequence[TransferredFile]) -> None:
        """Waits while the agent has more to deliver than it may keep."""
        await self._outbox.room()
        await self.save([Entry(CHANNEL, Part.FILE, str(self.key), encode(file)) for file in files])

    def tick_entry(self, tick: TickReport) -> Entry:
        return Entry(CHANNEL, Part.TICK, str(self.key), encode(TransferTick(key=self.key, tick=tick)))

    def run_entry(self, run: TransferRun) -> Entry:
        return Entry(CHANNEL, Part.RUN, str(self.key), encode(run))

    def passed(self, name: str, version: str, due_times: DueTimes, now: datetime) -> list[Entry]:
        """Accounts for the due times up to `now` that nobody waited for; answers what is to be reported of them."""
        after = self.account.until
        self.account.until = now
        span = due_times.span(after, now) if after is not None else None
        if span is None:
            return []
        outcome = TickOutcome.SKIPPED if self.account.stopped else TickOutcome.MISSED
        reason = STOPPED if self.account.stopped else AGENT_AWAY
        tick = TickReport(
            flow=name,
            version=version,
            due=span.first,
            last_due=span.last,
            count=span.count,
            outcome=outcome,
            reason=reason,
        )
        return [self.tick_entry(tick)]
