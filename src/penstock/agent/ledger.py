"""The tick ledger: each due time of each flow of this agent is told once, as fired, skipped or missed.

What is in memory is the truth for this process; the database gets every change in the same order, in one transaction
with the reports that follow from it. So a kill at any moment leaves a state from which nothing is told twice
and nothing is left out:

- A tick is on disk before it fires.
- Due times that pass while a flow does not run are told as ranges, now and then and whenever the flow changes.
- Due times that passed while no agent ran become gaps. They are told once the servers have been heard: which
  version was wanted when is only known then.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from penstock.agent.account import AGENT_AWAY, Account, Gap, Rule
from penstock.agent.book import forget, read_accounts, read_gaps, write_gaps, write_until
from penstock.agent.database import Database
from penstock.agent.due_times import DueTimes
from penstock.agent.entries import Channel, insert_entries, tick_entry
from penstock.agent.open_runs import OpenRuns
from penstock.agent.outbox import Outbox
from penstock.flow.listener import Tick
from penstock.protocol.report import TickOutcome, TickReport

Also = Callable[[sqlite3.Connection], None]
"""What is to be written in the same transaction."""

_INSTANT = timedelta(microseconds=1)


class Ledger:
    """The accounts of all flows that this agent has."""

    def __init__(self, database: Database, outbox: Outbox, runs: OpenRuns) -> None:
        self._database = database
        self._outbox = outbox
        self._runs = runs
        self._accounts: dict[str, Account] = {}
        self._gaps: dict[str, list[Gap]] = {}

    async def open(self) -> None:
        """Reads what earlier runs of the agent wrote."""
        self._accounts = await self._database.run(read_accounts)
        self._gaps = await self._database.run(read_gaps)

    def schedule(self, flow: str) -> str | None:
        """The Schedule that made the flow, if one did."""
        account = self._accounts.get(flow)
        return account.rule.schedule if account is not None and account.rule is not None else None

    async def tick(self, ticks: Sequence[Tick]) -> None:
        """Returns when the ticks are on disk, and with them what passed before the first one of a flow."""
        reports: list[TickReport] = []
        begun: set[str] = set()
        for tick in ticks:
            account = self._account(tick.flow, tick.due)
            if not account.running:
                reports += self._begin(tick.flow, tick.due - _INSTANT)
                begun.add(tick.flow)
            reports.append(_report(tick, account.rule))
            account.until = max(account.until, tick.last_due)
        fired = [each for each in reports if each.outcome is TickOutcome.FIRED and each.schedule is not None]
        await self._write(reports, {tick.flow for tick in ticks}, begun, self._runs.expect(fired))
        self._runs.fire(fired)

    def resume(self, rule: Rule) -> None:
        """What an earlier run of the agent left of the flow goes on under the rule."""
        account = self._accounts.get(rule.flow)
        if account is not None:
            account.rule = rule

    def learn(self, flow: str, due_times: DueTimes | None) -> None:
        """When the flow is due, which was not known before."""
        account = self._accounts.get(flow)
        if account is not None and account.rule is not None:
            account.rule = msgspec.structs.replace(account.rule, due_times=due_times)

    async def rest(self, rule: Rule, since: datetime, also: Also | None = None) -> None:
        """From `since` on, the flow does not run and the rule holds; up to then the rule before tells.

        since: for a flow that is new here, when it became this agent's.
        """
        account = self._account(rule.flow, since)
        reports = self._settle(rule.flow, rule, since)
        if not account.running:
            reports += _pass(account, since)
        account.until = max(account.until, since)
        account.rule = rule
        account.running = False
        await self._write(reports, {rule.flow}, {rule.flow}, also)

    async def run(self, rule: Rule, since: datetime, moment: datetime, also: Also | None = None) -> None:
        """The engine tells of the flow's due times after `moment`; the rule is of the version that runs.

        since: when this version was asked for, which parts the gaps.
        """
        account = self._account(rule.flow, moment)
        reports: list[TickReport] = []
        if not account.running:
            reports += self._begin(rule.flow, moment)
        elif account.rule is not None and account.rule.version != rule.version:
            reports += self._settle(rule.flow, rule, since)
        account.until = max(account.until, moment)
        account.rule = rule
        await self._write(reports, {rule.flow}, {rule.flow}, also)

    async def remove(self, flow: str, until: datetime, also: Also | None = None) -> None:
        """Tells what passed up to `until` and forgets the flow, which does not run."""
        account = self._accounts.pop(flow, None)
        gaps = self._gaps.pop(flow, [])
        reports: list[TickReport] = []
        if account is not None and account.rule is not None:
            reports += _tell(gaps, account.rule.because(TickOutcome.MISSED, AGENT_AWAY), until=until)
            if not account.running:
                reports += _pass(account, until)

        def write(connection: sqlite3.Connection) -> None:
            forget(connection, flow)
            if also is not None:
                also(connection)

        await self._write(reports, (), (), write)

    def told(self, flow: str) -> datetime | None:
        """Up to when each due time of the flow is told."""
        account = self._accounts.get(flow)
        return account.until if account is not None else None

    def outstanding(self, flow: str, moment: datetime) -> bool:
        """Whether the engine has yet to tell of a due time up to `moment`."""
        account = self._accounts.get(flow)
        if account is None or account.rule is None or not account.running:
            return False
        return bool(account.rule.passed(account.until, moment))

    def gaps(self) -> list[str]:
        """The flows with gaps that are not told yet."""
        return list(self._gaps)

    async def settle(self, flows: Iterable[str]) -> None:
        """Tells the gaps of flows that the servers still want as they were."""
        settled = [flow for flow in flows if flow in self._gaps and flow in self._accounts]
        reports: list[TickReport] = []
        for flow in settled:
            rule = self._accounts[flow].rule
            if rule is not None:
                reports += self._settle(flow, rule, self._gaps[flow][-1].until)
        await self._write(reports, (), settled)

    def resting(self) -> list[str]:
        """The flows that do not run."""
        return [flow for flow, account in self._accounts.items() if not account.running and account.rule is not None]

    async def tell_passed(self, flows: Iterable[str], now: datetime) -> None:
        """Tells the due times of flows that have passed while they do not run."""
        reports: list[TickReport] = []
        for flow in flows:
            account = self._accounts.get(flow)
            if account is None or account.running:
                continue
            reports += _pass(account, now)
            account.until = max(account.until, now)
        # Without a due time in between, the older moment on disk says the same.
        if reports:
            await self._write(reports, {report.flow for report in reports}, ())

    def _account(self, flow: str, since: datetime) -> Account:
        return self._accounts.setdefault(flow, Account(since))

    def _begin(self, flow: str, moment: datetime) -> list[TickReport]:
        """The flow's account from here on is the engine's; what passed before is told, or becomes a gap."""
        account = self._accounts[flow]
        reports: list[TickReport] = []
        if account.rule is not None and account.rule.reason == AGENT_AWAY:
            self._add_gap(flow, Gap(account.until, moment))
        else:
            reports = _pass(account, moment)
        account.until = max(account.until, moment)
        account.running = True
        return reports

    def _add_gap(self, flow: str, gap: Gap) -> None:
        gaps = self._gaps.setdefault(flow, [])
        if gaps and gaps[-1].until == gap.after:
            gap = Gap(gaps.pop().after, gap.until)
        gaps.append(gap)

    def _settle(self, flow: str, rule: Rule, since: datetime) -> list[TickReport]:
        """The reports on the flow's gaps: up to `since` by the rule that holds, from then on by the new one."""
        gaps = self._gaps.pop(flow, [])
        before = self._accounts[flow].rule
        reports: list[TickReport] = []
        if before is not None:
            reports += _tell(gaps, before.because(TickOutcome.MISSED, AGENT_AWAY), until=since)
        after = rule if rule.outcome is TickOutcome.SKIPPED else rule.because(TickOutcome.MISSED, AGENT_AWAY)
        return reports + _tell(gaps, after, after=since)

    async def _write(
        self, reports: Sequence[TickReport], told: Iterable[str], gapped: Iterable[str], also: Also | None = None
    ) -> None:
        """Hands the change to the database at once, so that changes keep their order; returns when it is on disk."""
        entries = [tick_entry(report) for report in reports]
        untils = [(flow, self._accounts[flow].until) for flow in told]
        gaps = [(flow, list(self._gaps.get(flow, ()))) for flow in gapped]

        def write(connection: sqlite3.Connection) -> None:
            insert_entries(connection, entries)
            write_until(connection, untils)
            for flow, left in gaps:
                write_gaps(connection, flow, left)
            if also is not None:
                also(connection)

        await self._database.run(write)
        self._outbox.stored(Channel.SCHEDULES, len(entries))


def _pass(account: Account, moment: datetime) -> list[TickReport]:
    return account.rule.passed(account.until, moment) if account.rule is not None else []


def _tell(
    gaps: Iterable[Gap], rule: Rule, *, after: datetime | None = None, until: datetime | None = None
) -> list[TickReport]:
    """The reports on the parts of the gaps that lie after `after` and not after `until`."""
    reports: list[TickReport] = []
    for gap in gaps:
        begin = gap.after if after is None else max(gap.after, after)
        end = gap.until if until is None else min(gap.until, until)
        reports += rule.passed(begin, end)
    return reports


def _report(tick: Tick, rule: Rule | None) -> TickReport:
    return TickReport(
        flow=tick.flow,
        version=tick.version,
        due=tick.due,
        last_due=tick.last_due,
        count=tick.count,
        outcome=TickOutcome.MISSED if tick.missed else TickOutcome.FIRED,
        reason=tick.reason,
        schedule=rule.schedule if rule is not None else None,
    )
