"""A commit as a procedure: what is run, and what each refusal means."""

from collections.abc import Callable, Sequence
from functools import partial

from penstock.kernel.errors import NameTaken, NotFound, Stale
from penstock.store.catalog import Catalog
from penstock.store.statement import Conflict, Result, Statement, Steps
from penstock.store.write import Append, Delete, Insert, Replace, Require, Write

Check = Callable[[Result], None]
Plan = list[tuple[Statement, Check | None]]


def plan(catalog: Catalog, writes: Sequence[Write], now: int) -> Plan:
    """The statements of a commit, each with the check of its result. Raises Invalid for values no column can hold.

    Encoding happens here, so that the writer only runs SQL and a retry encodes nothing again.
    """
    steps: Plan = []
    for write in writes:
        match write:
            case Insert():
                table = catalog.table(write.collection)
                steps.append((table.clear_expired(write, now), None))
                steps.append((table.insert(write), partial(_check_inserted, write)))
            case Replace():
                table = catalog.table(write.collection)
                steps.append((table.clear_expired(write, now), None))
                steps.append((table.lock(write.id, now), partial(_check_current, write)))
                steps.append((table.replace(write), None))
            case Delete():
                table = catalog.table(write.collection)
                steps.append((table.lock(write.id, now), partial(_check_current, write)))
                steps.append((table.delete(write), None))
            case Require():
                table = catalog.table(write.collection)
                steps.append((table.lock(write.id, now), partial(_check_current, write)))
            case Append():
                entries = catalog.entries(write.journal)
                steps.extend((entries.insert(entry), None) for entry in write.entries)
    return steps


def commit(steps: Plan, writes: Sequence[Write]) -> Steps[None]:
    """Runs a plan. Raises NameTaken, NotFound, Stale: then nothing of it is kept."""
    try:
        results = yield [statement for statement, _ in steps]
    except Conflict:
        raise NameTaken(_taken([write for write in writes if isinstance(write, Replace)])) from None
    for (_, check), result in zip(steps, results, strict=True):
        if check is not None:
            check(result)


def _check_inserted(write: Insert, result: Result) -> None:
    if not result.changed:
        raise NameTaken(_taken([write]))


def _check_current(write: Replace | Delete | Require, result: Result) -> None:
    if not result.rows:
        raise NotFound.of(write.collection.name, write.id)
    if write.expected is not None and result.rows[0][0] != write.expected:
        raise Stale(f"{write.collection.name} '{write.id}' was changed meanwhile")


def _taken(writes: Sequence[Insert | Replace]) -> str:
    kinds = []
    for write in writes:
        unique = [column.name for column in write.collection.columns if column.unique] or ["id"]
        kinds.append(f"another {write.collection.name} has the same {' or '.join(unique)}")
    return "; ".join(dict.fromkeys(kinds)).replace("_", " ")
