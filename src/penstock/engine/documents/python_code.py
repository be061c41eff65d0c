"""What can be told of Python code without running it."""

import ast
import re
import warnings
from collections.abc import Mapping
from typing import Any

from penstock.engine.documents.types import ANY, type_of_python, type_of_value

_MARK = re.compile(r"#\s*parameters\s*", re.IGNORECASE)
NO_VALUE = object()


def has_parameters_mark(text: str) -> bool:
    """Whether the first line is the comment `# parameters`."""
    first, _, _ = text.lstrip().partition("\n")
    return _MARK.fullmatch(first.strip()) is not None


def assignments(text: str) -> list[tuple[str, str, Any, bool]]:
    """(name, type, value, has one) of the assignments to plain names; value NO_VALUE when only running tells it."""
    found = []
    for statement in _statements(text):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            value = _literal(statement.value)
            found.append((statement.target.id, _annotated(statement.annotation), value, statement.value is not None))
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                value = _literal(statement.value)
                found.append((target.id, ANY if value in (NO_VALUE, None) else type_of_value(value), value, True))
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
