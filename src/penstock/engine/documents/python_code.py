"""What can be told of Python code without running it."""

import ast
import re
import warnings
from collections.abc import Mapping
from typing import Any

from penstock.engine.documents.types import ANY, type_of_python, type_of_value

_MARK = re.compile(r"#\s*parameters\s*", re.IGNORECASE)
NO_VALUE = object()


def parameters_block(text: str, *, tagged: bool) -> str:
    """The lines whose assignments are parameters: all of a tagged cell, else those from the comment `# parameters`
    at its top up to the first blank line."""
    if tagged:
        return text
    lines = text.lstrip("\n").splitlines(keepends=True)
    if not lines or not _MARK.fullmatch(lines[0].strip()):
        return ""
    end = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    return text[: len(text) - len(text.lstrip("\n"))] + "".join(lines[:end])


def with_values(text: str, block: str, values: Mapping[str, Any]) -> str:
    """The code with other values in the assignments of its block. values: of JSON, by name; others are left alone."""
    lines = [line.encode() for line in text.splitlines(keepends=True)]
    replaced: set[str] = set()
    changes = []
    for statement in _statements(block):
        name = _assigned(statement)
        if name in values and name not in replaced:
            replaced.add(name)
            changes.append((statement, repr(values[name])))
    for statement, value in reversed(changes):
        _replace(lines, statement, value)
    return b"".join(lines).decode()


def assignments(text: str) -> list[tuple[str, str, Any, bool]]:
    """(name, type, value, has one) of the assignments to plain names; value NO_VALUE when only running tells it."""
    found = []
    for statement in _statements(text):
        name = _assigned(statement)
        if name and isinstance(statement, ast.AnnAssign):
            value = _literal(statement.value)
            found.append((name, _annotated(statement.annotation), value, statement.value is not None))
        elif name and isinstance(statement, ast.Assign):
            value = _literal(statement.value)
            unknown = value is NO_VALUE or value is None
            found.append((name, ANY if unknown else type_of_value(value), value, True))
    return found


def result_type(text: str, types: Mapping[str, str]) -> str | None:
    """The type of what the last line answers; None when it answers nothing. types: of known variables."""
    statements = _statements(text)
    if not statements or not isinstance(statements[-1], ast.Expr) or text.rstrip().endswith(";"):
        return None
    value = statements[-1].value
    if isinstance(value, ast.Name):
        known = {**types, **{name: type for name, type, _, _ in assignments(text)}}
        return known.get(value.id, ANY)
    return _type_of(value)


def _statements(text: str) -> list[ast.stmt]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Lines of IPython, such as `%time`, are no Python; they stand for nothing here.
            plain = re.sub(r"^[ \t]*[%!?].*$", "", text, flags=re.MULTILINE)
            return ast.parse(plain).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _assigned(statement: ast.stmt) -> str:
    """The one name that the statement assigns to; empty for any other statement."""
    targets = [statement.target] if isinstance(statement, ast.AnnAssign) else getattr(statement, "targets", [])
    plain = isinstance(statement, ast.Assign | ast.AnnAssign) and len(targets) == 1
    return targets[0].id if plain and isinstance(targets[0], ast.Name) else ""


def _replace(lines: list[bytes], statement: ast.stmt, value: str) -> None:
    """Puts the value where the statement has its own, or behind a statement that has none."""
    own: ast.expr | None = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    last, end = (statement.end_lineno or 1) - 1, statement.end_col_offset or 0
    first, start = (own.lineno - 1, own.col_offset) if own is not None else (last, end)
    new = value if own is not None else f" = {value}"
    before, after = lines[first][:start], lines[last][end:]
    # As many lines as before, so that errors name the right ones.
    lines[first : last + 1] = [before + new.encode() + after, *([b"\n"] * (last - first))]


def _literal(node: ast.expr | None) -> Any:
    if node is None:
        return NO_VALUE
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return NO_VALUE
    return value if _is_json(value) else NO_VALUE


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(each) for key, each in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    return value is None or isinstance(value, str | int | float | bool)


def _annotated(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return type_of_python(node.value)
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return type_of_python(name)


def _type_of(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=None):
            return ANY
        case ast.Constant(value=value):
            return type_of_value(value)
        case ast.JoinedStr():
            return "string"
        case ast.List() | ast.ListComp() | ast.Tuple():
            return "array"
        case ast.Dict() | ast.DictComp():
            return "object"
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return "boolean"
        case ast.Call(func=ast.Name(id=name)):
            return "integer" if name == "len" else type_of_python(name)
    return ANY
