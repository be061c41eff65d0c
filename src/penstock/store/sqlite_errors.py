"""Which errors of SQLite mean that the database is away rather than that a statement is wrong."""

import sqlite3

from penstock.kernel.errors import Unavailable

_AWAY = {
    sqlite3.SQLITE_BUSY: "the database is locked by another process",
    sqlite3.SQLITE_LOCKED: "the database is locked",
    sqlite3.SQLITE_NOMEM: "there is no memory left for the database",
    sqlite3.SQLITE_READONLY: "the database cannot be written",
    sqlite3.SQLITE_INTERRUPT: "the query was interrupted",
    sqlite3.SQLITE_IOERR: "the disk does not answer as it should",
    sqlite3.SQLITE_CORRUPT: "the database file is damaged",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
    sqlite3.SQLITE_PROTOCOL: "the database is locked by another process",
    sqlite3.SQLITE_NOTADB: "the file is not a database",
}


def away(error: sqlite3.Error) -> Unavailable | None:
    """The error as Unavailable when the database or its disk fails; None when the statement is at fault."""
    detail = _AWAY.get(primary_code(error))
    return None if detail is None else Unavailable(detail)


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, 0 for errors of the Python module itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
