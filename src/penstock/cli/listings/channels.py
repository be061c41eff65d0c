"""Event channels, who subscribes to what, and their deliveries."""

from collections.abc import Iterable

from penstock.cli.column import Column, Row, first_line
from penstock.cli.listings.listing import Listing


def _types(parts: Iterable[Row] | None) -> str:
    """The kinds of a channel's components or endpoints, in their order."""
    return ", ".join(part["Type"] or "" for part in sorted(parts or (), key=lambda part: part["Position"]))


LISTINGS = (
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
        "deliveries",
        ("delivery",),
        "/eventing/deliveries",
        (
            Column("CHANNEL", "Channel"),
            Column("WAITING", "Waiting"),
            Column("IN HAND", "InHand"),
            Column("DEAD LETTERS", "DeadLetters"),
            Column("DISABLED SINCE", "DisabledSince"),
            first_line("REASON", "DisabledReason"),
        ),
        item="/eventing/deliveries/{name}",
        keys=("Channel",),
    ),
)
