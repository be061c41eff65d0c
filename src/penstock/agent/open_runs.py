"""Runs that must still end: each command that begins, or was to begin at a tick, is told finished once.

Whatever happens to the agent: what is open when it starts again died with the run of the agent before.
"""

import shlex
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

import msgspec

from penstock.agent.database import Database
from penstock.agent.entries import Channel, Entry, finished_entry, insert_entries, started_entry
from penstock.agent.outbox import Outbox
from penstock.agent.schema import micros
from penstock.flow.listener import CommandRun
from penstock.kernel.clock import Clock
from penstock.kernel.duration import Duration
from penstock.kernel.ids import new_id
from penstock.kernel.wire import encode
from penstock.protocol.report import RunFinished, RunStarted, TickReport

AGENT_STOPPED = "the agent stopped while it ran"
NEVER_BEGAN = "the run never began"
_SHOWN = 4096  # characters of a command line

Write = Callable[[sqlite3.Connection], None]


class OpenRuns:
    """Ticks whose command has not begun, and commands that have not ended."""

    def __init__(self, database: Database, outbox: Outbox, clock: Clock) -> None:
        self._database = database
        self._outbox = outbox
        self._clock = clock
        self._ticks: dict[tuple[str, datetime], TickReport] = {}

    async def end_all(self) -> int:
        """Tells the end of what an earlier run of the agent left open; answers how many runs that were."""
        now = self._clock.now()

        def end(connection: sqlite3.Connection) -> int:
            runs = connection.execute("SELECT started FROM open_runs ORDER BY run").fetchall()
            ticks = connection.execute("SELECT tick FROM open_ticks ORDER BY due").fetchall()
            entries = [_cut_off(msgspec.json.decode(body, type=RunStarted), now) for (body,) in runs]
            entries += [
                _without_run(msgspec.json.decode(body, type=TickReport), now, AGENT_STOPPED) for (body,) in ticks
            ]
            insert_entries(connection, entries)
            connection.execute("DELETE FROM open_runs")
            connection.execute("DELETE FROM open_ticks")
            return len(entries)

        ended = await self._database.run(end)
        self._outbox.stored(Channel.SCHEDULES, ended)
        return ended

    def expect(self, ticks: Sequence[TickReport]) -> Write:
        """What writes down that each of these ticks is to have a run."""
        rows = [(tick.flow, micros(tick.due), encode(tick)) for tick in ticks]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR REPLACE INTO open_ticks VALUES (?, ?, ?)", rows)

        return write

    def fire(self, ticks: Iterable[TickReport]) -> None:
        """The ticks that were expected fire now."""
        self._ticks.update({(tick.flow, tick.due): tick for tick in ticks})

    async def started(self, run: CommandRun, schedule: str | None) -> None:
        """Returns when it is on disk that the run begins."""
        report = RunStarted(
            run_id=run.id,
            flow=run.flow,
            version=run.version,
            due=run.due,
            started=run.started,
            command=shlex.join(run.command)[:_SHOWN],
            schedule=schedule,
        )
        entry = started_entry(report)

        def write(connection: sqlite3.Connection) -> None:
            insert_entries(connection, [entry])
            connection.execute("INSERT INTO open_runs VALUES (?, ?)", (str(run.id), entry.body))
            if run.due is not None:
                _close_ticks(connection, [(run.flow, run.due)])

        if run.due is not None:
            self._ticks.pop((run.flow, run.due), None)
        await self._database.run(write)
        self._outbox.stored(Channel.SCHEDULES, 1)

    def finished(self, run: CommandRun, schedule: str | None) -> None:
        """Writes down the end of a run, without waiting for the disk."""
        finished = run.finished or self._clock.now()
        report = RunFinished(
            run_id=run.id,
            flow=run.flow,
            version=run.version,
            due=run.due,
            started=run.started,
            finished=finished,
            duration=Duration.of(finished - run.started),
            exit_code=run.exit_code,
            error=run.error,
            output="" if self._outbox.full else run.output,
            output_bytes=run.output_bytes,
            schedule=schedule,
        )
        entry = finished_entry(report)

        def write(connection: sqlite3.Connection) -> None:
            insert_entries(connection, [entry])
            connection.execute("DELETE FROM open_runs WHERE run = ?", (str(run.id),))

        self._outbox.post(write, Channel.SCHEDULES, 1)

    async def never_began(self, flow: str, error: str) -> None:
        """Tells that the ticks of the flow which still wait for their run will have none."""
        await self._close([key for key in self._ticks if key[0] == flow], error)

    async def none_begins(self) -> None:
        """Tells that no tick which still waits for its run will have one: the engine has ended."""
        await self._close(list(self._ticks), f"{NEVER_BEGAN}: the agent was stopped")

    async def _close(self, keys: Sequence[tuple[str, datetime]], error: str) -> None:
        now = self._clock.now()
        entries = [_without_run(self._ticks.pop(key), now, error) for key in keys]
        if not entries:
            return

        def write(connection: sqlite3.Connection) -> None:
            insert_entries(connection, entries)
            _close_ticks(connection, keys)

        await self._database.run(write)
        self._outbox.stored(Channel.SCHEDULES, len(entries))


def _close_ticks(connection: sqlite3.Connection, keys: Iterable[tuple[str, datetime]]) -> None:
    connection.executemany(
        "DELETE FROM open_ticks WHERE flow = ? AND due = ?", [(flow, micros(due)) for flow, due in keys]
    )


def _cut_off(run: RunStarted, now: datetime) -> Entry:
    return finished_entry(
        RunFinished(
            run_id=run.run_id,
            flow=run.flow,
            version=run.version,
            due=run.due,
            started=run.started,
            finished=max(now, run.started),
            duration=Duration.of(max(now, run.started) - run.started),
            error=AGENT_STOPPED,
            schedule=run.schedule,
        )
    )


def _without_run(tick: TickReport, now: datetime, error: str) -> Entry:
    return finished_entry(
        RunFinished(
            run_id=new_id(),
            flow=tick.flow,
            version=tick.version,
            due=tick.due,
            started=tick.due,
            finished=max(now, tick.due),
            duration=Duration(),
            error=error,
            schedule=tick.schedule,
        )
    )
