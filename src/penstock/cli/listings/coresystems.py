"""Core systems."""

from penstock.cli.column import Column
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "coresystems",
        ("coresystem",),
        "/integrations/coresystems",
        (
            Column("NAME", "Name"),
            Column("TITLE", "Title"),
            Column("CATEGORY", "Category"),
            Column("TYPE", "Type"),
            Column("DESCRIPTION", "Description"),
        ),
        item="/integrations/coresystems/{name}",
    ),
)
