"""File transfers and what they did."""

from penstock.cli.column import REQUESTED, Column, Row
from penstock.cli.listings.listing import Listing


def _place(storage: Row) -> str:
    return f"{storage['System']['Name']}:{storage['Path']}"


def _last_error(items: list[Row]) -> str:
    """What a run ended with, when that was an error."""
    return items[-1]["Msg"] if items and items[-1]["Level"] == "error" else ""


LISTINGS = (
    Listing(
        "transfers",
        ("transfer", "mfts", "mft"),
        "/integrations/mfts",
        (
            Column("NAME", "Name"),
            Column("COMMAND", "Command"),
            Column("STATUS", "Status"),
            REQUESTED,
            Column("SCHEDULE", "Schedule"),
            Column("FROM", lambda row: _place(row["Source"])),
            Column("TO", lambda row: _place(row["Destination"])),
            Column("VERSION", "Version"),
        ),
        item="/integrations/mfts/{name}",
    ),
    Listing(
        "transfer-runs",
        ("transfer-run",),
        "/integrations/mfts/history?MftName={name}",
        (
            Column("STARTED", "StartTime"),
            Column("FILES", lambda row: row["Stats"]["Transfers"]),
            Column("BYTES", lambda row: row["Stats"]["Bytes"]),
            Column("SECONDS", lambda row: round(row["Stats"]["ElapsedTime"], 1)),
            Column("ERROR", lambda row: _last_error(row["Items"])),
            Column("ID", "Id"),
        ),
        of="transfer",
    ),
    Listing(
        "transferred-files",
        ("transferred-file",),
        "/integrations/mfts/filetransfers?MftName={name}",
        (
            Column("TIME", "Time"),
            Column("OPERATION", "Operation"),
            Column("FILE", "FileName"),
            Column("FROM", lambda row: f"{row['FromName']}:{row['FromPath']}"),
            Column("TO", lambda row: f"{row['ToName']}:{row['ToPath']}"),
        ),
        of="transfer",
    ),
)
