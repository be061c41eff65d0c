"""Keeps the proxy at the servers' table, and at the last one they told while they are away."""

import asyncio
from contextlib import suppress
from datetime import datetime, timedelta

import msgspec
import structlog

from penstock.gateway.due import at_moment, next_change
from penstock.gateway.link import Link
from penstock.gateway.proxy import Proxy
from penstock.gateway.table_file import StampedTable, TableFile
from penstock.kernel.clock import Clock
from penstock.kernel.errors import PenstockError
from penstock.protocol.gateway import GatewayStanding, table_decoder

RESYNC = timedelta(seconds=15)
"""So often the servers are asked, besides when they say that something changed."""
_AGAIN = timedelta(seconds=5)
_log = structlog.get_logger(__name__)


class TableKeeper:
    """`serve` runs as a task. gateway: the name."""

    def __init__(self, gateway: str, link: Link, proxy: Proxy, file: TableFile, clock: Clock) -> None:
        self._gateway = gateway
        self._link = link
        self._proxy = proxy
        self._file = file
        self._clock = clock
        self._told: StampedTable | None = None
        self._served: StampedTable | None = None
        self._applied: str | None = None
        self._applied_at: datetime | None = None
        self._problem: str | None = None
        self._unread: str | None = None
        self._due: datetime | None = None
        self._noticed = asyncio.Event()
        self._standing_changed = asyncio.Event()

    def look(self) -> None:
        """Asks the servers soon."""
        self._noticed.set()

    @property
    def standing(self) -> GatewayStanding:
        return GatewayStanding(
            gateway=self._gateway,
            address=self._proxy.address,
            stamp=self._applied,
            applied_at=self._applied_at,
            problem=self._proxy.problem or self._problem,
        )

    async def standing_changed(self) -> None:
        """Waits for it."""
        await self._standing_changed.wait()
        self._standing_changed.clear()

    async def serve(self) -> None:
        """Serves what is on disk at once, then what the servers say, until cancelled."""
        self._told, self._served = await asyncio.to_thread(self._file.load)
        while True:
            if self._told is not None and (self._applied != self._told.stamp or self._is_due()):
                await self._bring(self._told)
            await self._rest()
            await self._ask()

    async def _rest(self) -> None:
        """Until there is a notice, the next look is due, or the table changes by itself."""
        pause = RESYNC if self._problem is None else _AGAIN
        if self._due is not None:
            pause = min(pause, max(self._due - self._clock.now(), timedelta()))
        try:
            async with asyncio.timeout(pause.total_seconds()):
                await self._noticed.wait()
        except TimeoutError:
            pass
        self._noticed.clear()

    async def _ask(self) -> None:
        """Takes a table that differs, and writes it down."""
        if not self._link.connected or self._is_due():
            return
        known = self._unread or (self._told.stamp if self._told else None)
        try:
            answer = await self._link.table(known)
        except PenstockError as error:
            _log.info("the servers do not tell the table", reason=error.detail)
            return
        if answer is None:
            return
        stamp, body = answer
        try:
            table = await asyncio.to_thread(table_decoder.decode, body)
        except msgspec.DecodeError as error:
            self._unread = stamp
            self._fail(f"the servers' table cannot be read; is this gateway older than they are? ({error})")
            return
        self._unread = None
        before_was_served = self._told is not None and self._told.stamp == self._applied
        self._told = StampedTable(stamp, self._clock.now(), table)
        try:
            await asyncio.to_thread(self._file.save, self._told, before_was_served)
        except OSError as error:
            _log.error("the table is served and cannot be kept", reason=error.strerror)

    async def _bring(self, told: StampedTable) -> None:
        """Has the table served as it is now; where it cannot be, the one before goes on, as it is now."""
        try:
            await self._apply(told)
            self._problem = self._problem if self._unread else None
        except PenstockError as error:
            self._fail(error.detail)
            if self._served is not None and self._served != told:
                with suppress(PenstockError):
                    await self._apply(self._served)
        self._standing_changed.set()

    async def _apply(self, stamped: StampedTable) -> None:
        now = self._clock.now()
        self._due = next_change(stamped.table, now)
        await self._proxy.apply(at_moment(stamped.table, now))
        _log.info("table applied", stamp=stamped.stamp, versions=len(stamped.table.versions))
        self._served, self._applied, self._applied_at = stamped, stamped.stamp, self._clock.now()

    def _fail(self, problem: str) -> None:
        if problem != self._problem:
            _log.error("the table cannot be served", reason=problem)
        self._problem = problem
        self._standing_changed.set()

    def _is_due(self) -> bool:
        return self._due is not None and self._due <= self._clock.now()
