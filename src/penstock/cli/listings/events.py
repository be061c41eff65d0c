"""Accepted events."""

from penstock.cli.column import Column
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "events",
        ("event",),
        "/eventing/events?Limit=1000",
        (
            Column("ACCEPTED", "UtcDateTime"),
            Column("TYPE", "EventType"),
            Column("SOURCE", "Source"),
            Column("ID", "Id"),
        ),
        item="/eventing/events/details?eventId={name}",
        keys=("Id",),
    ),
)
