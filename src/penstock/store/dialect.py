"""What SQLite and PostgreSQL spell differently."""

from dataclasses import dataclass

from penstock.store.definition import ColumnType


@dataclass(frozen=True)
class Dialect:
    """Type names and the parameter mark of one database.

    serial: the column that numbers rows in the order of their insertion.
    text: compares by code point, so that ranges and prefixes mean the same everywhere.
    row_lock: appended to a SELECT that precedes a change of the same row.
    nulls_first: what an ascending order needs to have NULL before every value.
    """

    mark: str
    serial: str
    text: str
    integer: str
    real: str
    blob: str
    row_lock: str
    nulls_first: str

    def type_of(self, type: ColumnType) -> str:
        match type:
            case ColumnType.INTEGER:
                return self.integer
            case ColumnType.REAL:
                return self.real
            case _:
                return self.text

    def marks(self, count: int) -> str:
        return ", ".join([self.mark] * count)


SQLITE = Dialect(
    mark="?",
    serial="INTEGER PRIMARY KEY",
    text="TEXT",
    integer="INTEGER",
    real="REAL",
    blob="BLOB",
    row_lock="",
    nulls_first="",
)
POSTGRES = Dialect(
    mark="%s",
    serial="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    text='TEXT COLLATE "C"',
    integer="BIGINT",
    real="DOUBLE PRECISION",
    blob="BYTEA",
    row_lock=" FOR UPDATE",
    nulls_first=" NULLS FIRST",
)
