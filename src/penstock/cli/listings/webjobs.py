"""Web jobs and how they stand."""

from penstock.cli.column import REQUESTED, Column
from penstock.cli.listings.listing import Listing

LISTINGS = (
    Listing(
        "webjobs",
        ("webjob",),
        "/automation/webjob",
        (
            Column("NAME", "Name"),
            Column("REQUESTED", lambda row: REQUESTED.text(row) if row["IsEnabled"] else "disabled"),
            Column("CRON", "CronExpression"),
            Column("COMMAND", lambda row: " ".join([row["Command"] or "", row["CommandArguments"] or ""])),
            Column("PACKAGE", "PackageId"),
        ),
        item="/automation/webjob/{name}",
    ),
    Listing(
        "jobstatus",
        (),
        "/automation/webjob/{name}/status",
        (
            Column("AGENT", "AgentName"),
            Column("STATUS", "Status"),
            Column("SINCE", "Since"),
            Column("STARTS", "Starts"),
            Column("EXIT CODE", "ExitCode"),
            Column("MESSAGE", "Message"),
        ),
        of="webjob",
    ),
)
