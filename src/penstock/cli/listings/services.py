"""Services on the bus."""

from penstock.cli.column import Column
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "services",
        ("service",),
        "/services",
        (
            Column("NAME", "Name"),
            Column("VERSION", "Version"),
            Column("ENDPOINTS", lambda row: ", ".join(each["Endpoint"] for each in row["Endpoints"] or ())),
            Column("DESCRIPTION", "Description"),
            Column("ID", "Id"),
        ),
        keys=("Id", "Name"),
    ),
)
