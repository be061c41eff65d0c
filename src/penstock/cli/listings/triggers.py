"""Triggers of actions and notebooks."""

from penstock.cli.column import Column
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
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
    ),
)
