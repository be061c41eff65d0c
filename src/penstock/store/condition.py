"""Conditions of reads as SQL."""

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.store.column import comparable
from penstock.store.definition import Column, Value
from penstock.store.dialect import Dialect
from penstock.store.store import Where

_COMPARISONS = {"=", "!=", "<", "<=", ">", ">="}
_NEVER = "1 = 0"


class Conditions:
    """Builds the conditions of one table.

    columns: for each column that may be asked for, its SQL name and definition.
    """

    def __init__(self, dialect: Dialect, columns: Mapping[str, tuple[str, Column[Any]]]) -> None:
        self._dialect = dialect
        self._columns = columns

    def sql(self, where: Sequence[Where]) -> tuple[list[str], list[Any]]:
        """The conditions and their parameters. Raises ValueError for an unknown column or operator."""
        terms: list[str] = []
        params: list[Any] = []
        for each in where:
            name, column = self._column(each.column)
            term, values = self._term(name, column, each)
            terms.append(term)
            params.extend(values)
        return terms, params

    def _column(self, name: str) -> tuple[str, Column[Any]]:
        try:
            return self._columns[name]
        except KeyError:
            raise ValueError(f"there is no column '{name}'") from None

    def name(self, column: str) -> str:
        """The SQL name of a column. Raises ValueError when there is none."""
        return self._column(column)[0]

    def _term(self, name: str, column: Column[Any], where: Where) -> tuple[str, list[Any]]:
        if where.op == "in":
            return self._within(name, [comparable(column, each) for each in _several(where)])
        value = comparable(column, _single(where))
        if where.op == "prefix":
            return self._prefix(name, value)
        if where.op not in _COMPARISONS:
            raise ValueError(f"there is no operator '{where.op}'")
        if value is None:
            return _compare_null(name, where.op), []
        if where.op == "!=":
            return f"({name} <> {self._dialect.mark} OR {name} IS NULL)", [value]
        return f"{name} {where.op} {self._dialect.mark}", [value]

    def _within(self, name: str, values: list[Any]) -> tuple[str, list[Any]]:
        present = [each for each in values if each is not None]
        terms = [f"{name} IN ({self._dialect.marks(len(present))})"] if present else []
        if len(present) < len(values):
            terms.append(f"{name} IS NULL")
        return f"({' OR '.join(terms)})" if terms else _NEVER, present

    def _prefix(self, name: str, value: Any) -> tuple[str, list[Any]]:
        if not isinstance(value, str):
            raise ValueError("a prefix is text")
        after = _after(value)
        if after is None:
            return f"{name} >= {self._dialect.mark}", [value]
        return f"({name} >= {self._dialect.mark} AND {name} < {self._dialect.mark})", [value, after]


def _several(where: Where) -> Sequence[Value]:
    if isinstance(where.value, str) or not isinstance(where.value, Sequence):
        raise ValueError("'in' takes a sequence")
    return where.value


def _single(where: Where) -> Value:
    if isinstance(where.value, Sequence) and not isinstance(where.value, str):
        raise ValueError(f"'{where.op}' takes a single value")
    return where.value


def _compare_null(name: str, op: str) -> str:
    """None equals None and nothing else; it is neither less nor greater than anything."""
    return {"=": f"{name} IS NULL", "!=": f"{name} IS NOT NULL"}.get(op, _NEVER)


def _after(prefix: str) -> str | None:
    """The least text greater than every text that begins with `prefix`; None when there is none."""
    for end in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[end]) + 1
        if code == 0xD800:  # surrogates are no text
            code = 0xE000
        if code <= 0x10FFFF:
            return prefix[:end] + chr(code)
    return None
