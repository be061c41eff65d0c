"""Flows and their versions."""

from penstock.cli.column import REQUESTED, Column
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "flows",
        ("flow",),
        "/integrations/flows",
        (
            Column("NAME", "FlowName"),
            Column("STATUS", "Status"),
            REQUESTED,
            Column("RUNNING", "RunningCount"),
            Column("ERRORS", "ErrorCount"),
            Column("CATEGORY", "Category"),
            Column("VERSION", "Version"),
        ),
        item="/integrations/flows/{name}",
        keys=("FlowName",),
    ),
    Listing(
        "versions",
        ("version",),
        "/integrations/flows/{name}/versions?count=1000",
        (
            Column("VERSION", "Version"),
            Column("SAVED", "Saved"),
            Column("BY", "SavedBy"),
            Column("CURRENT", "IsCurrent"),
        ),
        of="flow",
    ),
)
