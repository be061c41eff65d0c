"""Schedules and what they did."""

from penstock.cli.column import Column
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "schedules",
        ("schedule",),
        "/scheduling/schedules",
        (
            Column("NAME", "Name"),
            Column("CRON", "Cron"),
            Column("COMMAND", lambda row: " ".join([row["Command"] or "", *(row["Arguments"] or ())])),
            Column("DESCRIPTION", "Description"),
        ),
        item="/scheduling/schedules/{name}",
    ),
    Listing(
        "runs",
        ("run",),
        "/scheduling/schedules/{name}/runs",
        (
            Column("STARTED", "Started"),
            Column("DUE", "Due"),
            Column("DURATION", "Duration"),
            Column("EXIT CODE", "ExitCode"),
            Column("ERROR", "Error"),
            Column("OUTPUT", lambda row: (row["Output"] or "").strip().rpartition("\n")[2]),
        ),
        of="schedule",
    ),
    Listing(
        "ticks",
        ("tick",),
        "/scheduling/schedules/{name}/ticks",
        (
            Column("DUE", "Due"),
            Column("LAST DUE", "LastDue"),
            Column("COUNT", "Count"),
            Column("OUTCOME", "Outcome"),
            Column("REASON", "Reason"),
            Column("AGENT", "AgentId"),
        ),
        of="schedule",
    ),
)
