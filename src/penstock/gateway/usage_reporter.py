"""What was served, counted from the access log and told to the servers: each call once, however often we are ended.

A step reads on in the log, puts the sum into a numbered report, and writes report and place to the disk together.
Only then is it sent, under its number, until the servers' stream has it. What is sent twice counts once.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import structlog

from penstock.gateway.access_log import AccessLog, Read
from penstock.gateway.call_stream import CallStream
from penstock.gateway.link import Link
from penstock.gateway.usage_file import UsageFile, UsageState
from penstock.gateway.usage_sum import MOST_ENTRIES, HourSum, hour_of, merged, sums
from penstock.kernel.errors import PenstockError
from penstock.protocol.gateway import UsageEntry, UsageReport
from penstock.protocol.subjects import USAGE

STEP_SECONDS = 1.0
_log = structlog.get_logger(__name__)


class UsageReporter:
    """gateway: the name."""

    def __init__(self, gateway: str, log: AccessLog, file: UsageFile, link: Link, calls: CallStream) -> None:
        self._gateway = gateway
        self._log = log
        self._file = file
        self._link = link
        self._calls = calls

    async def serve(self, ended: asyncio.Event) -> None:
        """Counts and tells, until nothing is left after the proxy has ended; never to be cancelled within a step.

        Raises UnusableFile when what was counted cannot be read.
        """
        state: UsageState | None = None
        while True:
            last = ended.is_set()
            try:
                if state is None:
                    state = await asyncio.to_thread(self._file.load)
                await self._step(state)
            except OSError as error:
                # As on a full disk. What is in memory may be ahead of it: begin again at what it says.
                _log.error("calls cannot be counted yet", reason=error.strerror)
                state = None
            if last:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(STEP_SECONDS):
                    await ended.wait()

    async def _step(self, state: UsageState) -> None:
        while await self._count(state):
            pass
        await self._send(state)
        await self._rotate()

    async def _rotate(self) -> None:
        try:
            await self._log.rotate()
        except PenstockError as error:  # Envoy is being started again; the next step asks once more
            _log.info("the access log cannot be begun anew yet", reason=error.detail)

    async def _count(self, state: UsageState) -> bool:
        """Whether there is more to count at once."""
        read, hours = await asyncio.to_thread(self._read, state)
        if read.place == state.place:
            return read.more
        state.place = read.place
        for hour in hours:
            self._put(state, hour)
        await asyncio.to_thread(self._save, state)
        await self._calls.tell(read.calls)
        return read.more

    def _read(self, state: UsageState) -> tuple[Read, Sequence[HourSum]]:
        read = self._log.read(state.place)
        return read, sums(read.calls)

    def _save(self, state: UsageState) -> None:
        self._file.save(state)
        self._log.forget_old(state.place)

    def _put(self, state: UsageState, hour: HourSum) -> None:
        """Adds a sum to the reports: to one of its hour that was never sent, else as a new one."""
        for part in hour.parts():
            last = state.unsent[-1] if len(state.unsent) > 1 else None  # the first may have been sent already
            if last is not None and hour_of(last.since) == hour_of(hour.since):
                together = merged(last.entries, part)
                if len(together) <= MOST_ENTRIES:
                    last.entries = together
                    last.since, last.until = min(last.since, hour.since), max(last.until, hour.until)
                    continue
            state.number += 1
            state.unsent.append(self._report(state, hour, part))

    def _report(self, state: UsageState, hour: HourSum, entries: list[UsageEntry]) -> UsageReport:
        return UsageReport(
            id=f"{state.source}-{state.number}",
            gateway=self._gateway,
            since=hour.since,
            until=hour.until,
            entries=entries,
        )

    async def _send(self, state: UsageState) -> None:
        """Sends reports while the bus takes them, oldest first."""
        sent = False
        try:
            while state.unsent and self._link.connected:
                report = state.unsent[0]
                await self._link.report(USAGE, report, message_id=report.id)
                del state.unsent[0]
                sent = True
        except PenstockError as error:
            _log.warning("usage waits, it cannot be told", reports=len(state.unsent), reason=error.detail)
        if sent:
            await asyncio.to_thread(self._file.save, state)
