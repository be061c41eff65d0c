"""Integration services."""

from penstock.cli.column import Column
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "integrationservices",
        ("integrationservice",),
        "/integrations/services",
        (
            Column("NAME", "Name"),
            Column("TITLE", "Title"),
            Column("CATEGORY", "Category"),
            Column("VERSION", "Version"),
            Column("PROPERTIES", lambda row: ", ".join(each["Name"] for each in row["Properties"])),
        ),
        item="/integrations/services/{name}",
    ),
)
