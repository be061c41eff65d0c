"""Users."""

from penstock.cli.column import Column
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "users",
        ("user",),
        "/identity/user",
        (Column("USER NAME", "Username"), Column("ROLES", lambda row: ", ".join(row["Roles"] or ()))),
        keys=("Username",),
    ),
)
