"""Published APIs, their versions and subscriptions, what is called, and the gateways that serve them."""

from typing import Any

from penstock.cli.column import Column, Row, first_line
from penstock.cli.listings.listing import Listing


def _upstream(row: Row) -> Any:
    """Where the requests of a version go."""
    parameters = row["Parameters"] or {}
    return next((parameters[name] for name in ("Url", "Endpoint", "Trigger") if name in parameters), None)


def _access(row: Row) -> Any:
    return (row["Authentication"] or {}).get("Type") or "any subscription"


def _names(rows: list[Row] | None, field: str) -> str:
    return ", ".join(each[field] or "" for each in rows or ())


LISTINGS = (
    Listing(
        "apis",
        ("api",),
        "/apim/apis",
        (
            Column("NAME", "Name"),
            Column("PREFIX", lambda row: f"/{row['Prefix']}"),
            Column("VERSIONS", lambda row: _names(row["Versions"], "Version")),
            Column("SUBSCRIPTIONS", lambda row: _names(row["Subscriptions"], "Name")),
            first_line("DESCRIPTION", "Description"),
        ),
        item="/apim/apis/{name}",
    ),
    Listing(
        "apiversions",
        ("apiversion",),
        "/apim/apiversions",
        (
            Column("VERSION", "Key"),
            Column("ACTIVE", "IsActive"),
            Column("TYPE", "Type"),
            Column("UPSTREAM", _upstream),
            Column("ACCESS", _access),
            Column("DEPRECATED", lambda row: (row["Parameters"] or {}).get("Deprecated")),
        ),
        keys=("Key",),
    ),
    Listing(
        "apisubscriptions",
        ("apisubscription",),
        "/apim/subscriptions",
        (
            Column("NAME", "Name"),
            Column("TYPE", "Type"),
            Column("APIS", lambda row: ", ".join(row["Apis"] or ())),
            Column("PARAMETERS", "Parameters"),
            first_line("DESCRIPTION", "Description"),
        ),
        item="/apim/subscriptions/{name}",
    ),
    Listing(
        "apiusage",
        (),
        "/apim/usage?Count=1000",
        (
            Column("API", "Api"),
            Column("VERSION", "Version"),
            Column("SUBSCRIPTION", "Subscription"),
            Column("CALLS", "Calls"),
            Column("ERRORS", "Errors"),
            Column("REFUSED", "Refused"),
            Column("P50 MS", lambda row: round(row["P50Milliseconds"], 1)),
            Column("P99 MS", lambda row: round(row["P99Milliseconds"], 1)),
        ),
        keys=("Api", "Subscription"),
    ),
    Listing(
        "gateways",
        ("gateway",),
        "/apim/gateways",
        (
            Column("NAME", "Name"),
            Column("ADDRESS", "Address"),
            Column("ONLINE", "Online"),
            Column("UP TO DATE", "UpToDate"),
            Column("LAST SEEN", "LastSeen"),
            first_line("PROBLEM", "Problem"),
        ),
    ),
)
