"""Entities of integrations."""

from penstock.cli.column import Column, first_line
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "entities",
        ("entity",),
        "/integrations/entitystore/search"
        "?entityType={name}&entityId=*&limit=1000&fromDate=1970-01-01&includeHistory=false",
        (
            Column("ID", "Id"),
            Column("UPDATED", "Updated"),
            first_line("DATA", "Data"),
        ),
        of="type",
        rows="Data",
    ),
)
