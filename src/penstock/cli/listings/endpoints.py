"""Endpoints, and how they stand on agents."""

from typing import Any

from penstock.cli.column import Column, Row, worded
from penstock.cli.listings.listing import Listing

_STATUS = ("New", "Initializing", "InitializingFailed", "Ready", "Changed", "Failed", "Unhealthy")


def _reason(row: Row) -> Any:
    """Why the endpoint moved to where it stands."""
    moves = row["StatusUpdates"]
    return moves[-1]["Message"] if moves else None


_ENDPOINTS = Listing(
    "endpoints",
    ("endpoint",),
    "/integrations/endpoint",
    (
        Column("NAME", "Name"),
        Column("API", lambda row: f"{row['ApiName']} {row['ApiVersion']}"),
        Column("ROUTE", "Route"),
        Column("DESCRIPTION", "Description"),
        Column("ID", "Id"),
    ),
    keys=("Name", "Id"),
)

LISTINGS = (
    _ENDPOINTS,
    Listing(
        "endpointstatus",
        (),
        "/agent/endpoint/{id}/agents/currentStatus",
        (
            Column("AGENT", "AgentId"),
            worded("STATUS", "CurrentStatus", _STATUS),
            Column("SINCE", "LastStatusUpdate"),
            Column("MESSAGE", _reason),
        ),
        of="endpoint",
        owner=_ENDPOINTS,
    ),
)
