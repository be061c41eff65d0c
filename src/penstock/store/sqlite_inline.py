"""Reads from SQLite in the event loop itself, as long as that is the shorter way."""

import sqlite3
from time import perf_counter

from penstock.store.sqlite_errors import away, primary_code
from penstock.store.statement import Found, Statement

_BUDGET = 0.002  # seconds that one read may hold up the event loop
_OPERATIONS = 200  # of SQLite's virtual machine, between two looks at the time; about ten rows
_REMEMBERED = 1.0  # seconds that a statement which was too slow goes to a thread at once
_MOST_REMEMBERED = 1000


class InlineReader:
    """Gives up what takes too long: that is for a thread.

    A row by an index takes 9 us and a list of a hundred 70 us, the way to a thread and back 30 us more, and beside it
    the threads take the interpreter's lock from each other row by row. Measured with 16 callers: 65,000 to 90,000
    reads a second here and 34,000 in threads; 13,500 lists of a hundred here and 2,600 to 8,000 in threads.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._connection.set_progress_handler(self._is_overdue, _OPERATIONS)
        self._deadline = 0.0
        self._slow: dict[str, float] = {}

    def query(self, statement: Statement) -> Found | None:
        """The rows, or None when they take too long. Raises Unavailable when the database fails."""
        now = perf_counter()
        if self._slow and self._slow.get(statement.sql, 0.0) > now:
            return None
        self._deadline = now + _BUDGET
        try:
            return self._connection.execute(statement.sql, statement.params).fetchall()
        except sqlite3.Error as error:
            if primary_code(error) == sqlite3.SQLITE_INTERRUPT:
                self._remember(statement.sql, now)
                return None
            unavailable = away(error)
            if unavailable is None:
                raise
            raise unavailable from error

    def close(self) -> None:
        self._connection.close()

    def _is_overdue(self) -> bool:
        return perf_counter() > self._deadline

    def _remember(self, sql: str, now: float) -> None:
        if len(self._slow) == _MOST_REMEMBERED:
            self._slow.clear()
        self._slow[sql] = now + _REMEMBERED
