"""The kinds of things that `penstock get` shows, each declared once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.cli.text import visible

Row = Mapping[str, Any]

_AGENT_STATUS = ("Unknown", "Online", "Offline", "Pending", "Deprecated")
_WIDEST = 60
_REQUESTED = ("stopped", "started", "unknown")


@dataclass(frozen=True)
class Column:
    """A column of the table. of: the row's field, or what makes the text from the row."""

    title: str
    of: str | Callable[[Row], Any]

    def text(self, row: Row) -> str:
        value = row.get(self.of) if isinstance(self.of, str) else self.of(row)
        return visible(_text(value))


@dataclass(frozen=True)
class Listing:
    """A kind of thing.

    path: where all of them are. item: where one of that name is; None where the server has no such operation.
    keys: the fields that a name given is compared with.
    of: what the name given is, where it does not name one of them but the thing that they belong to.
    rows: the field of the answer that has them, where it is not the answer itself.
    """

    name: str
    aliases: tuple[str, ...]
    path: str
    columns: tuple[Column, ...]
    item: str | None = None
    keys: tuple[str, ...] = ("Name",)
    of: str | None = None
    rows: str | None = None


LISTINGS = (
    Listing(
        "agents",
        ("agent",),
        "/agents",
        (
            Column("NAME", "Name"),
            Column("POOL", "PoolName"),
            Column("STATUS", lambda row: _word(_AGENT_STATUS, row["CurrentStatusEnum"])),
            Column("LAST SEEN", "LastSeen"),
            Column("VERSION", "LastBuildVersion"),
            Column("ID", "Id"),
        ),
        keys=("Name", "Id"),
    ),
    Listing(
        "pending",
        (),
        "/agents/pending",
        (Column("ID", "Id"), Column("POOL", "PoolName"), Column("EXPIRES", "Expires")),
        keys=("Id",),
    ),
    Listing(
        "flows",
        ("flow",),
        "/integrations/flows",
        (
            Column("NAME", "FlowName"),
            Column("STATUS", "Status"),
            Column("REQUESTED", lambda row: _word(_REQUESTED, row["RequestedStatus"])),
            Column("RUNNING", "RunningCount"),
            Column("ERRORS", "ErrorCount"),
            Column("CATEGORY", "Category"),
            Column("VERSION", "Version"),
        ),
        item="/integrations/flows/{name}",
        keys=("FlowName",),
    ),
    Listing(
        "transfers",
        ("transfer", "mfts", "mft"),
        "/integrations/mfts",
        (
            Column("NAME", "Name"),
            Column("COMMAND", "Command"),
            Column("STATUS", "Status"),
            Column("REQUESTED", lambda row: _word(_REQUESTED, row["RequestedStatus"])),
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
    Listing(
        "versions",
        ("version",),
        "/integrations/flows/{name}/versions?count=1000",
        (
            Column("VERSION", "Version"),
            Column("SAVED", "Saved"),
            Column("BY", "SavedBy"),
            Column("CURRENT", "IsCurrent"),
        ),
        of="flow",
    ),
    Listing(
        "schedules",
        ("schedule",),
        "/scheduling/schedules",
        (
            Column("NAME", "Name"),
            Column("CRON", "Cron"),
            Column("COMMAND", lambda row: " ".join([row["Command"] or "", *(row["Arguments"] or ())])),
            Column("DESCRIPTION", "Description"),
        ),
        item="/scheduling/schedules/{name}",
    ),
    Listing(
        "runs",
        ("run",),
        "/scheduling/schedules/{name}/runs",
        (
            Column("STARTED", "Started"),
            Column("DUE", "Due"),
            Column("DURATION", "Duration"),
            Column("EXIT CODE", "ExitCode"),
            Column("ERROR", "Error"),
            Column("OUTPUT", lambda row: (row["Output"] or "").strip().rpartition("\n")[2]),
        ),
        of="schedule",
    ),
    Listing(
        "ticks",
        ("tick",),
        "/scheduling/schedules/{name}/ticks",
        (
            Column("DUE", "Due"),
            Column("LAST DUE", "LastDue"),
            Column("COUNT", "Count"),
            Column("OUTCOME", "Outcome"),
            Column("REASON", "Reason"),
            Column("AGENT", "AgentId"),
        ),
        of="schedule",
    ),
    Listing(
        "webjobs",
        ("webjob",),
        "/automation/webjob",
        (
            Column("NAME", "Name"),
            Column(
                "REQUESTED", lambda row: _word(_REQUESTED, row["RequestedStatus"]) if row["IsEnabled"] else "disabled"
            ),
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
    Listing(
        "triggers",
        ("trigger",),
        "/automation/triggers",
        (
            Column("NAME", "Name"),
            Column("KIND", "Kind"),
            Column("WHEN", "When"),
            Column("RUNS", lambda row: row["ScriptName"] or row["ScriptId"]),
            Column("ENABLED", "IsEnabled"),
            Column("ID", "Id"),
        ),
        keys=("Name", "Id"),
    ),
    Listing(
        "integrationservices",
        ("integrationservice",),
        "/integrations/services",
        (
            Column("NAME", "Name"),
            Column("TITLE", "Title"),
            Column("CATEGORY", "Category"),
            Column("VERSION", "Version"),
            Column("PROPERTIES", lambda row: ", ".join(each["Name"] for each in row["Properties"])),
        ),
        item="/integrations/services/{name}",
    ),
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
    Listing(
        "streams",
        ("stream",),
        "/eventing/streams",
        (
            Column("NAME", "Name"),
            Column("MESSAGES", "Messages"),
            Column("BYTES", "Bytes"),
            Column("CONSUMERS", "Consumers"),
            Column("CREATED", "Created"),
        ),
    ),
    Listing(
        "channels",
        ("channel",),
        "/api/EventHub/Admin/channels",
        (
            Column("NAME", "Name"),
            Column("COMPONENTS", lambda row: _types(row["Components"])),
            Column("ENDPOINTS", lambda row: _types(row["Endpoints"])),
            Column("ID", "Id"),
        ),
    ),
    Listing(
        "subscriptions",
        ("subscription",),
        "/api/EventHub/Admin/subscriptions",
        (
            Column("CHANNEL", "ChannelName"),
            Column("SOURCE", "Source"),
            Column("EVENT TYPE", "EventType"),
            Column("SPEC VERSION", "SpecVersion"),
            Column("ID", "Id"),
        ),
        keys=("Id", "ChannelName"),
    ),
    Listing(
        "events",
        ("event",),
        "/eventing/events?Limit=1000",
        (
            Column("ACCEPTED", "UtcDateTime"),
            Column("TYPE", "EventType"),
            Column("SOURCE", "Source"),
            Column("ID", "Id"),
        ),
        item="/eventing/events/details?eventId={name}",
        keys=("Id",),
    ),
    Listing(
        "deliveries",
        ("delivery",),
        "/eventing/deliveries",
        (
            Column("CHANNEL", "Channel"),
            Column("WAITING", "Waiting"),
            Column("IN HAND", "InHand"),
            Column("DEAD LETTERS", "DeadLetters"),
            Column("DISABLED SINCE", "DisabledSince"),
            Column("REASON", lambda row: _line(row["DisabledReason"] or "")),
        ),
        item="/eventing/deliveries/{name}",
        keys=("Channel",),
    ),
    Listing(
        "webhooks",
        ("webhook",),
        "/api/webhooks",
        (Column("NAME", "Name"), Column("DESCRIPTION", "Description")),
    ),
    Listing(
        "requests",
        ("request",),
        "/api/webhooks/{name}/history",
        (
            Column("RECEIVED", "Timestamp"),
            Column("METHOD", "Method"),
            Column("CONTENT TYPE", "ContentType"),
            Column("BODY", lambda row: _line(row["Body"] or "")),
            Column("COPY OF", "OriginalMessageId"),
            Column("ID", "Id"),
        ),
        of="webhook",
    ),
    Listing(
        "entities",
        ("entity",),
        "/integrations/entitystore/search"
        "?entityType={name}&entityId=*&limit=1000&fromDate=1970-01-01&includeHistory=false",
        (
            Column("ID", "Id"),
            Column("UPDATED", "Updated"),
            Column("DATA", lambda row: _line(row["Data"] or "")),
        ),
        of="type",
        rows="Data",
    ),
    Listing(
        "services",
        ("service",),
        "/services",
        (
            Column("NAME", "Name"),
            Column("VERSION", "Version"),
            Column("ENDPOINTS", lambda row: ", ".join(each["Endpoint"] for each in row["Endpoints"] or ())),
            Column("DESCRIPTION", "Description"),
            Column("ID", "Id"),
        ),
        keys=("Id", "Name"),
    ),
    Listing(
        "users",
        ("user",),
        "/identity/user",
        (Column("USER NAME", "Username"), Column("ROLES", lambda row: ", ".join(row["Roles"] or ()))),
        keys=("Username",),
    ),
    Listing(
        "kinds",
        ("kind",),
        "/configuration/kinds",
        (Column("KIND", "Kind"), Column("DESCRIPTION", "Description")),
        keys=("Kind",),
    ),
)


def listing_named(name: str) -> Listing | None:
    """The listing of this name or alias, without case."""
    wanted = name.casefold()
    return next((each for each in LISTINGS if wanted == each.name or wanted in each.aliases), None)


def _word(words: tuple[str, ...], number: int) -> str:
    return words[number] if 0 <= number < len(words) else str(number)


def _types(parts: Iterable[Row] | None) -> str:
    """The kinds of a channel's components or endpoints, in their order."""
    return ", ".join(part["Type"] or "" for part in sorted(parts or (), key=lambda part: part["Position"]))


def _line(text: str) -> str:
    """The first line, cut; others may have written it, so nothing in it may steer the terminal."""
    first = text.strip().partition("\n")[0].strip()
    shown = "".join(character if character.isprintable() else "\ufffd" for character in first[:_WIDEST])
    return shown if len(first) <= _WIDEST else f"{shown}..."


def _text(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _place(storage: Row) -> str:
    return f"{storage['System']['Name']}:{storage['Path']}"


def _last_error(items: list[Row]) -> str:
    """What a run ended with, when that was an error."""
    return items[-1]["Msg"] if items and items[-1]["Level"] == "error" else ""
