"""Counters of ticks and runs. A server counts what it took in; what comes again after a fault counts again."""

from prometheus_client import Counter

from penstock.areas.schedules.ledger_entry import RunEntry, ScheduleTick
from penstock.protocol.report import TickOutcome

_TICKS = Counter("penstock_ticks_total", "Due times of schedules, by what became of them.", ("outcome",))
_RUNS = Counter("penstock_schedule_runs_total", "Runs of schedules that ended, by result.", ("result",))

_TICKS_BY_OUTCOME = {outcome: _TICKS.labels(outcome.value) for outcome in TickOutcome}
_SUCCEEDED, _FAILED = _RUNS.labels("succeeded"), _RUNS.labels("failed")


def count_tick(tick: ScheduleTick) -> None:
    _TICKS_BY_OUTCOME[tick.outcome].inc(tick.count)


def count_run(run: RunEntry) -> None:
    """Counts the end of a run."""
    if run.is_end:
        (_SUCCEEDED if run.exit_code == 0 and run.error is None else _FAILED).inc()
