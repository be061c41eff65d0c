"""The policy report: who may do what, and which limits hold, written from what is in force."""

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from itertools import groupby

from penstock.kernel.actor import Role
from penstock.kernel.clock import Clock
from penstock.resource.operation import MIB, Operation
from penstock.resource.page import DEFAULT, MOST
from penstock.resource.ports.operation_catalog import OperationCatalog
from penstock.resource.ports.rules import AccessRules, CodeRules, Rule

_INTRODUCTION = """\
Roles build on each other: Reader (reads, no secrets), Operator (also runs, starts, stops, creates and publishes),
Admin (also identity, secrets, agents and configuration). Agent stands apart: an agent may only use its own id."""


class PolicyReport:
    """Writes the report."""

    def __init__(self, operations: OperationCatalog, access: AccessRules, code: CodeRules, clock: Clock) -> None:
        self._operations = operations
        self._access = access
        self._code = code
        self._clock = clock

    async def text(self) -> str:
        """Markdown."""
        made = f"Penstock {version('penstock')}, {self._clock.now():%Y-%m-%d %H:%M:%S} UTC"
        parts = ["# Policy report", made, "## Roles", _INTRODUCTION]
        parts += ["## Passwords, tokens, keys", _rules(self._access.rules())]
        parts += ["## Code that users run", _rules(await self._code.rules())]
        parts += ["## Limits", _rules(_limits()), "## Operations", *_tables(self._operations)]
        return "\n\n".join(parts) + "\n"


def _limits() -> Sequence[Rule]:
    return [
        Rule("Entries of a listing", f"{DEFAULT} unless asked otherwise, at most {MOST}"),
        Rule("Size of a request body", f"{MIB // (1 << 20)} MiB unless the operation says otherwise"),
    ]


def _rules(rules: Iterable[Rule]) -> str:
    return "\n".join(f"- {rule.topic}: {rule.text}" for rule in rules)


def _tables(operations: Iterable[Operation]) -> Sequence[str]:
    def area(operation: Operation) -> str:
        return operation.area

    parts = []
    for name, group in groupby(sorted(operations, key=area), key=area):
        rows = [_row(o) for o in sorted(group, key=lambda o: (o.declaration.path, o.declaration.method))]
        table = ["| Operation | Who may call it | Largest body |", "|---|---|---|", *rows]
        parts += [f"### {name}", "\n".join(table)]
    return parts


def _row(operation: Operation) -> str:
    declaration = operation.declaration
    callers = [role for role in Role if any(role.covers(needed) for needed in declaration.roles)]
    who = ", ".join(callers) or "everyone"
    if declaration.own:
        who += " (an agent only with its own id)"
    size = f"{declaration.limit / MIB:g} MiB" if operation.body else "-"
    return f"| {declaration.method} {declaration.path} | {who} | {size} |"
