"""The types of properties, and what their values may be."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.areas.integrationservices.model import IntegrationServiceProperty
from penstock.connectors.reference import is_reference, names_in
from penstock.kernel.errors import FieldError

STRING = "string"
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_LONGEST = 64 * 1024


def _text_problem(text: str) -> str:
    return ""


def _integer_problem(text: str) -> str:
    return "" if _INTEGER.fullmatch(text) else "must be a whole number"


def _number_problem(text: str) -> str:
    return "" if _NUMBER.fullmatch(text) else "must be a number"


def _boolean_problem(text: str) -> str:
    return "" if text in ("true", "false") else "must be true or false"


def _secret_problem(text: str) -> str:
    return "" if is_reference(text) else "is a secret: keep it in a variable and write {{var:NAME}}"


_PROBLEMS: Mapping[str, Callable[[str], str]] = {
    STRING: _text_problem,
    "integer": _integer_problem,
    "number": _number_problem,
    "boolean": _boolean_problem,
    "secret": _secret_problem,
}
TYPES = tuple(_PROBLEMS)


def type_of(declared: IntegrationServiceProperty) -> str:
    return (declared.type or STRING).casefold()


def text_of(value: Any) -> str:
    """A value of a variable as flows take it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def value_problem(declared: IntegrationServiceProperty, value: Any) -> str:
    """What is wrong with a value; empty when nothing is. What names variables may become anything."""
    if not isinstance(value, str | int | float):
        return "must be a text, a number, true or false"
    text = text_of(value)
    if len(text) > _LONGEST or "\0" in text:
        return f"must have at most {_LONGEST} characters and no NUL"
    kind = type_of(declared)
    if kind != "secret" and names_in(text):
        return ""
    return _PROBLEMS[kind](text)


def completed(
    properties: Sequence[IntegrationServiceProperty], variables: Mapping[str, Any], field: str
) -> tuple[dict[str, str], list[FieldError]]:
    """The value of each property, its default where none is given; and what is wrong with them.

    Without properties every variable is taken. field: what the variables are called in errors.
    """
    declared = {each.name or "": each for each in properties}
    if not declared:
        declared = {name: IntegrationServiceProperty(name=name) for name in variables}
    values: dict[str, str] = {}
    errors = [
        FieldError(f"{field}.{name}", f"is no property of the service; there are {', '.join(declared)}")
        for name in variables
        if name not in declared
    ]
    for name, each in declared.items():
        value = variables.get(name)
        if value is None:
            value = each.default
        if value is None:
            if each.is_required:
                errors.append(FieldError(f"{field}.{name}", "is required"))
        elif problem := value_problem(each, value):
            errors.append(FieldError(f"{field}.{name}", problem))
        else:
            values[name] = text_of(value)
    return values, errors
