"""Triggers of actions and notebooks, their runs and their due times."""

from penstock.cli.column import Column
from penstock.cli.listings.listing import Listing

_TRIGGERS = Listing(
    "triggers",
    ("trigger",),
    "/automation/triggers",
    (
        Column("NAME", "Name"),
        Column("KIND", "Kind"),
        Column("WHEN", "When"),
        Column("RUNS", lambda row: row["ScriptName"] or row["ScriptId"]),
        Column("ENABLED", "IsEnabled"),
        Column("ID", "Id"),
    ),
    keys=("Name", "Id"),
)

LISTINGS = (
    _TRIGGERS,
    Listing(
        "triggerruns",
        ("triggerrun",),
        "/automation/runs?triggerId={id}",
        (
            Column("STARTED", "Started"),
            Column("STATUS", lambda row: row["StatusCode"] if row["Finished"] else "in progress"),
            Column("DURATION", "Duration"),
            Column("ERROR", lambda row: (row["Error"] or "").strip().rpartition("\n")[2]),
            Column("FILES", lambda row: ", ".join(file["FileName"] for file in row["Files"])),
            Column("ID", "Id"),
        ),
        of="trigger",
        owner=_TRIGGERS,
    ),
    Listing(
        "triggerticks",
        ("triggertick",),
        "/automation/ticks?scheduleId={id}",
        (
            Column("DUE", "Due"),
            Column("LAST DUE", "LastDue"),
            Column("COUNT", "Count"),
            Column("OUTCOME", "Outcome"),
            Column("REASON", "Reason"),
            Column("RUN", "RunId"),
        ),
        of="trigger",
        owner=_TRIGGERS,
    ),
)
