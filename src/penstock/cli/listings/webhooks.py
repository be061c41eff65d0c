"""Webhooks and the requests that they received."""

from penstock.cli.column import Column, first_line
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "webhooks",
        ("webhook",),
        "/api/webhooks",
        (Column("NAME", "Name"), Column("DESCRIPTION", "Description")),
    ),
    Listing(
        "requests",
        ("request",),
        "/api/webhooks/{name}/history",
        (
            Column("RECEIVED", "Timestamp"),
            Column("METHOD", "Method"),
            Column("CONTENT TYPE", "ContentType"),
            first_line("BODY", "Body"),
            Column("COPY OF", "OriginalMessageId"),
            Column("ID", "Id"),
        ),
        of="webhook",
    ),
)
