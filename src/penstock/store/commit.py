"""A commit as a procedure: what is run, and what each refusal means."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, assert_never

from penstock.kernel.errors import NameTaken, NotFound, Stale
from penstock.store.catalog import Catalog
from penstock.store.statement import Conflict, Result, Statement, Steps
from penstock.store.write import Append, Delete, Insert, Replace, Require, Write


class Step(NamedTuple):
    """A statement, and what tells from its result that the commit is refused.

    taken: the error when a unique index refuses the statement. free: makes room for one that touched no row, which is
    then run again.
    """

    statement: Statement
    check: Callable[[Result], None] | None = None
    taken: str = ""
    free: Callable[[], Statement] | None = None


def plan(catalog: Catalog, writes: Sequence[Write], now: int) -> list[Step]:
    """The steps of a commit. Raises Invalid for values no column can hold.

    Encoding happens here, so that the writer only runs SQL and a retry encodes nothing again.
    """
    return [step for write in writes for step in _steps(catalog, write, now)]


def commit(steps: Sequence[Step]) -> Steps[None]:
    """Runs a plan. Raises NameTaken, NotFound, Stale for the first write that is refused: then nothing is kept."""
    for step in steps:
        try:
            result = yield step.statement
        except Conflict:
            raise NameTaken(step.taken) from None
        if step.free is not None and not result.changed:
            yield step.free()
            result = yield step.statement
        if step.check is not None:
            step.check(result)


def _steps(catalog: Catalog, write: Write, now: int) -> Iterator[Step]:
    match write:
        case Insert():
            table = catalog.table(write.collection)
            free = partial(table.clear_expired, write, now)
            yield Step(table.insert(write), partial(_check_inserted, write), free=free)
        case Replace():
            table = catalog.table(write.collection)
            yield Step(table.clear_expired(write, now))
            yield Step(table.lock(write.id, now), partial(_check_current, write))
            yield Step(table.replace(write), taken=_taken(write))
        case Delete():
            table = catalog.table(write.collection)
            yield Step(table.lock(write.id, now), partial(_check_current, write))
            yield Step(table.delete(write))
        case Require():
            table = catalog.table(write.collection)
            yield Step(table.lock(write.id, now), partial(_check_current, write))
        case Append():
            yield from map(Step, catalog.entries(write.journal).insert(write.entries, write.replace))
        case _:
            assert_never(write)


def _check_inserted(write: Insert, result: Result) -> None:
    if not result.changed:
        raise NameTaken(_taken(write))


def _check_current(write: Replace | Delete | Require, result: Result) -> None:
    if not result.rows:
        raise NotFound.of(write.collection.name, write.id)
    if write.expected is not None and result.rows[0][0] != write.expected:
        raise Stale(f"{write.collection.name} '{write.id}' was changed meanwhile")


def _taken(write: Insert | Replace) -> str:
    unique = [column.name for column in write.collection.columns if column.unique] or ["id"]
    return f"another {write.collection.name} has the same {' or '.join(unique)}".replace("_", " ")
