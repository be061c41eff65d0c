"""Packages that bring APIs, how their installation went, and the APIs."""

from penstock.cli.column import Column, worded
from penstock.cli.listings.listing import Listing

_STATUS = worded("STATUS", "Status", ("New", "Ready", "Failed"))

_PACKAGES = Listing(
    "apipackages",
    ("apipackage",),
    "/integrations/packages",
    (
        Column("NAME", "PackageName"),
        Column("VERSION", "PackageVersion"),
        _STATUS,
        Column("APIS", lambda row: ", ".join(each["ApiName"] for each in row["Apis"] or ())),
        Column("ID", "Id"),
    ),
    keys=("PackageName", "Id"),
)

LISTINGS = (
    _PACKAGES,
    Listing(
        "installation",
        (),
        "/integrations/packages/{id}/installation",
        (
            _STATUS,
            Column("UPDATED", "Updated"),
            Column("MESSAGE", "Message"),
            Column("PROBLEMS", lambda row: "\n".join(row["Problems"])),
            Column("DIGEST", "Digest"),
        ),
        of="apipackage",
        owner=_PACKAGES,
    ),
    Listing(
        "packageapis",
        ("packageapi",),
        "/integrations/api",
        (
            Column("NAME", "ApiName"),
            Column("VERSION", "ApiVersion"),
            Column("PACKAGE", lambda row: f"{row['PackageName']} {row['ProductVersion']}"),
            Column("DESCRIPTION", "Description"),
        ),
        item="/integrations/api/{name}",
        keys=("ApiName", "Identifier"),
    ),
)
