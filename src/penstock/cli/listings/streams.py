"""Streams."""

from penstock.cli.column import Column
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "streams",
        ("stream",),
        "/eventing/streams",
        (
            Column("NAME", "Name"),
            Column("MESSAGES", "Messages"),
            Column("BYTES", "Bytes"),
            Column("CONSUMERS", "Consumers"),
            Column("CREATED", "Created"),
        ),
    ),
)
