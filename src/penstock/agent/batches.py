"""Entries of the outbox put into numbered messages, so that one sent again is known as the same."""

import sqlite3
from typing import NamedTuple

from penstock.agent.entries import Channel, report

MOST_ENTRIES = 200
_BYTES = 512 * 1024  # a bus takes 1 MiB in a message unless it is told otherwise


class Batch(NamedTuple):
    """A message to be sent. number: counts the messages of the channel, over restarts. entries: how many it holds."""

    channel: Channel
    number: int
    entries: int
    body: bytes


def next_batch(
    connection: sqlite3.Connection, channel: Channel, done: Batch | None, most: int = MOST_ENTRIES
) -> Batch | None:
    """The next message of a channel, after `done` has been acknowledged; None when there is nothing to send.

    A message that was made and not acknowledged before comes again with the same number and entries.
    """
    if done is not None:
        remove_batch(connection, done)
    row = connection.execute(
        "SELECT batch FROM outbox WHERE channel = ? ORDER BY number LIMIT 1", (channel,)
    ).fetchone()
    if row is None:
        return None
    number = row[0] if row[0] is not None else _seal(connection, channel, most)
    rows = connection.execute(
        "SELECT part, entry FROM outbox WHERE channel = ? AND batch = ? ORDER BY number", (channel, number)
    ).fetchall()
    return Batch(channel, number, len(rows), report(channel, rows))


def remove_batch(connection: sqlite3.Connection, batch: Batch) -> None:
    """Forgets the entries of a message."""
    connection.execute("DELETE FROM outbox WHERE channel = ? AND batch = ?", (batch.channel, batch.number))


def break_up(connection: sqlite3.Connection, batch: Batch) -> None:
    """Frees the entries of a message that the bus refused, for other messages."""
    connection.execute("UPDATE outbox SET batch = NULL WHERE channel = ? AND batch = ?", (batch.channel, batch.number))


def _seal(connection: sqlite3.Connection, channel: Channel, most: int) -> int:
    """Puts the oldest entries into a new message; answers its number."""
    [(number,)] = connection.execute(
        "INSERT INTO batches VALUES (?, 1) ON CONFLICT (channel) DO UPDATE SET last = last + 1 RETURNING last",
        (channel,),
    ).fetchall()
    rows = connection.execute(
        "SELECT number, length(entry) FROM outbox WHERE channel = ? ORDER BY number LIMIT ?", (channel, most)
    ).fetchall()
    last, size = rows[0][0], 0
    for entry, length in rows:
        size += length
        if size > _BYTES and entry != rows[0][0]:
            break
        last = entry
    connection.execute("UPDATE outbox SET batch = ? WHERE channel = ? AND number <= ?", (number, channel, last))
    return int(number)
