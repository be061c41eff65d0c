"""What the servers want the agent to have, as last heard and kept: schedules go on while the servers are away."""

import sqlite3
from collections.abc import Sequence

import structlog

from penstock.kernel.errors import Invalid
from penstock.kernel.validation import decode_json
from penstock.kernel.wire import encode
from penstock.protocol.work import WorkItem

_log = structlog.get_logger(__name__)


def read_names(connection: sqlite3.Connection) -> list[str]:
    return [flow for (flow,) in connection.execute("SELECT flow FROM desired ORDER BY flow")]


def read_items(connection: sqlite3.Connection, flows: Sequence[str]) -> list[WorkItem]:
    """The items of the flows; one that another version wrote, and this cannot read, is left for the servers to send."""
    marks = ",".join("?" * len(flows))
    rows = connection.execute(f"SELECT flow, item FROM desired WHERE flow IN ({marks})", tuple(flows))  # noqa: S608
    items = []
    for flow, body in rows:
        try:
            items.append(decode_json(body, WorkItem))
        except Invalid as error:
            _log.warning("kept work cannot be read", flow=flow, reason=str(error))
    return items


def write_item(connection: sqlite3.Connection, item: WorkItem) -> None:
    connection.execute("INSERT OR REPLACE INTO desired VALUES (?, ?)", (item.name, encode(item)))


def remove_item(connection: sqlite3.Connection, flow: str) -> None:
    connection.execute("DELETE FROM desired WHERE flow = ?", (flow,))
