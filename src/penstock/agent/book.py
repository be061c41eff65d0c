"""The ledger's tables."""

import sqlite3
from collections.abc import Iterable
from datetime import datetime

from penstock.agent.account import Account, Gap
from penstock.agent.schema import micros, moment


def read_accounts(connection: sqlite3.Connection) -> dict[str, Account]:
    rows = connection.execute("SELECT flow, until FROM accounts").fetchall()
    return {flow: Account(moment(until)) for flow, until in rows}


def read_gaps(connection: sqlite3.Connection) -> dict[str, list[Gap]]:
    """The gaps of each flow, the earliest first."""
    gaps: dict[str, list[Gap]] = {}
    for flow, after, until in connection.execute("SELECT flow, after, until FROM gaps ORDER BY flow, after"):
        gaps.setdefault(flow, []).append(Gap(moment(after), moment(until)))
    return gaps


def write_until(connection: sqlite3.Connection, untils: Iterable[tuple[str, datetime]]) -> None:
    connection.executemany(
        "INSERT INTO accounts VALUES (?, ?) ON CONFLICT (flow) DO UPDATE SET until = excluded.until",
        [(flow, micros(until)) for flow, until in untils],
    )


def write_gaps(connection: sqlite3.Connection, flow: str, gaps: Iterable[Gap]) -> None:
    """Puts these in the place of the gaps of the flow."""
    connection.execute("DELETE FROM gaps WHERE flow = ?", (flow,))
    connection.executemany(
        "INSERT INTO gaps VALUES (?, ?, ?)", [(flow, micros(gap.after), micros(gap.until)) for gap in gaps]
    )


def forget(connection: sqlite3.Connection, flow: str) -> None:
    connection.execute("DELETE FROM accounts WHERE flow = ?", (flow,))
    connection.execute("DELETE FROM gaps WHERE flow = ?", (flow,))
