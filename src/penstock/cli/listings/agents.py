"""Agents, and those that wait to be let in."""

from penstock.cli.column import Column, worded
from penstock.cli.listings.listing import Listing

_STATUS = ("Unknown", "Online", "Offline", "Pending", "Deprecated")

LISTINGS = (
    Listing(
        "agents",
        ("agent",),
        "/agents",
        (
            Column("NAME", "Name"),
            Column("POOL", "PoolName"),
            worded("STATUS", "CurrentStatusEnum", _STATUS),
            Column("LAST SEEN", "LastSeen"),
            Column("VERSION", "LastBuildVersion"),
            Column("ID", "Id"),
        ),
        keys=("Name", "Id"),
    ),
    Listing(
        "pending",
        (),
        "/agents/pending",
        (Column("ID", "Id"), Column("POOL", "PoolName"), Column("EXPIRES", "Expires")),
        keys=("Id",),
    ),
)
