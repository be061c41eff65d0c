"""Kinds of configuration documents."""

from penstock.cli.column import Column
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "kinds",
        ("kind",),
        "/configuration/kinds",
        (Column("KIND", "Kind"), Column("DESCRIPTION", "Description")),
        keys=("Kind",),
    ),
)
