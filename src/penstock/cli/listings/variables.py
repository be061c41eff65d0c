"""Variables."""

from penstock.cli.column import Column
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "variables",
        ("variable",),
        "/variables",
        (
            Column("NAME", "Name"),
            Column("VALUE", "Value"),
            Column("SECRET", "IsSecret"),
            Column("DESCRIPTION", "Description"),
        ),
        item="/variables/{name}",
    ),
)
