"""The tables of the agent's file. Times are microseconds since 1970, UTC."""

import sqlite3
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_APPLICATION_ID = 0x50454E41  # "PENA", in the file's header

VERSIONS = (
    """
    -- What the servers want the agent to have, as last heard.
    CREATE TABLE desired (flow TEXT PRIMARY KEY, item BLOB NOT NULL) WITHOUT ROWID;

    -- Every due time of the flow up to `until` is in the outbox, or in `gaps`.
    CREATE TABLE accounts (flow TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;

    -- Times at which no agent ran, from after `after` to `until`: told once it is known what was wanted then.
    CREATE TABLE gaps (
        flow TEXT NOT NULL, after INTEGER NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (flow, after)
    ) WITHOUT ROWID;

    -- Ticks that fired and whose command has not begun.
    CREATE TABLE open_ticks (
        flow TEXT NOT NULL, due INTEGER NOT NULL, tick BLOB NOT NULL, PRIMARY KEY (flow, due)
    ) WITHOUT ROWID;

    -- Commands that have begun and not ended.
    CREATE TABLE open_runs (run TEXT PRIMARY KEY, started BLOB NOT NULL) WITHOUT ROWID;

    -- Reports that no server has acknowledged. batch: the message that the entry was put into.
    CREATE TABLE outbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        channel TEXT NOT NULL, part TEXT NOT NULL, flow TEXT NOT NULL, entry BLOB NOT NULL, batch INTEGER
    );
    CREATE INDEX outbox_order ON outbox (channel, number);
    CREATE INDEX outbox_states ON outbox (flow) WHERE part = 'state';

    -- The number of the last batch of each channel.
    CREATE TABLE batches (channel TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
    """,
    """
    -- Event sources: what the servers want, how far each has read, how it stands.
    CREATE TABLE sources (id TEXT PRIMARY KEY, item BLOB NOT NULL, position BLOB, status BLOB);
    CREATE INDEX outbox_source_states ON outbox (flow) WHERE part = 'source';
    """,
    """
    -- Assigned work of every kind: what the servers want, how far each item has come, how it stands.
    -- body: NULL while it has secrets, which do not reach the disk.
    CREATE TABLE assigned (
        kind TEXT NOT NULL, key TEXT NOT NULL, stamp TEXT NOT NULL, body BLOB, progress BLOB, status BLOB,
        PRIMARY KEY (kind, key)
    ) WITHOUT ROWID;
    INSERT INTO assigned
        SELECT 'sources', id, json_extract(told, '$.Stamp'),
            CASE WHEN json_extract(told, '$.HasSecrets') THEN NULL
                ELSE CAST(json_remove(told, '$.Id', '$.Stamp', '$.HasSecrets') AS BLOB) END,
            position, status
        FROM (SELECT id, CAST(item AS TEXT) AS told, position, status FROM sources);
    DROP TABLE sources;
    DROP INDEX outbox_source_states;
    UPDATE outbox SET part = 'status', entry = CAST(json_object(
            'Key', json_extract(CAST(entry AS TEXT), '$.SourceId'),
            'At', json_extract(CAST(entry AS TEXT), '$.Status.LastStatusUpdate'),
            'Status', json_extract(CAST(entry AS TEXT), '$.Status'),
            'Removed', json(iif(json_extract(CAST(entry AS TEXT), '$.Removed'), 'true', 'false'))
        ) AS BLOB) WHERE part = 'source';
    CREATE INDEX outbox_statuses ON outbox (flow) WHERE part = 'status';
    """,
)


def prepare(connection: sqlite3.Connection) -> None:
    """Makes or upgrades the tables. Raises sqlite3.DatabaseError for a file that is not an agent's."""
    _check_ours(connection)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    [(version,)] = connection.execute("PRAGMA user_version")
    for number, script in enumerate(VERSIONS[version:], version + 1):
        connection.executescript(
            f"BEGIN IMMEDIATE; {script}; PRAGMA application_id = {_APPLICATION_ID};"
            f" PRAGMA user_version = {number}; COMMIT;"
        )


def _check_ours(connection: sqlite3.Connection) -> None:
    [(mark,)] = connection.execute("PRAGMA application_id")
    [(version,)] = connection.execute("PRAGMA user_version")
    [(tables,)] = connection.execute("SELECT count(*) FROM sqlite_master")
    if mark not in (0, _APPLICATION_ID) or (mark == 0 and tables):
        raise sqlite3.DatabaseError("it is the database of another program")
    if version > len(VERSIONS):
        raise sqlite3.DatabaseError("it was written by a newer version of Penstock")


def micros(moment: datetime) -> int:
    """The form of times in the tables."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(micros: int) -> datetime:
    """The time that a table's number stands for, in UTC."""
    return _EPOCH + timedelta(microseconds=micros)
