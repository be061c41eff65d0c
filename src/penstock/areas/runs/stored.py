"""Runs as they are stored."""

from datetime import timedelta

from penstock.resource.ports.runs import RecordedRun
from penstock.store.definition import Collection, Column

KEEP = timedelta(days=30)

RUNS: Collection[RecordedRun] = Collection(
    "runs",
    RecordedRun,
    (
        Column("script", lambda run: str(run.script_id)),
        Column("trigger", lambda run: run.trigger_id),
        Column("open_on", lambda run: None if run.finished else run.server),
    ),
)
