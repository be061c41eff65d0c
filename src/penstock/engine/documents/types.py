"""The types of parameters and results: those of JSON Schema, since values travel as JSON, and its formats of times."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Any

ANY = "any"
STRING = "string"

_TIMES: Mapping[str, Callable[[str], object]] = {
    "date": date.fromisoformat,
    "date-time": datetime.fromisoformat,
    "time": time.fromisoformat,
}
"""Texts in the forms of ISO 8601."""
EXAMPLES: Mapping[str, str] = {"date": "2026-03-31", "date-time": "2026-03-31T09:30:00Z", "time": "09:30"}

_OF_HINTS = {
    "checkbox": "boolean",
    "date": "date",
    "datetime": "date-time",
    "datetime-local": "date-time",
    "number": "number",
    "range": "number",
    "time": "time",
}

_TYPES: dict[str, tuple[type, ...]] = {
    STRING: (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_OF_PYTHON = {
    "str": STRING,
    "bool": "boolean",
    "int": "integer",
    "float": "number",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "List": "array",
    "Sequence": "array",
    "dict": "object",
    "Dict": "object",
    "Mapping": "object",
}
_OTHER_NAMES = {
    **{name.casefold(): type for name, type in _OF_PYTHON.items()},
    "char": STRING,
    "datetime": STRING,
    "guid": STRING,
    "int16": "integer",
    "int32": "integer",
    "int64": "integer",
    "long": "integer",
    "single": "number",
    "double": "number",
    "decimal": "number",
}


def known_type(name: str) -> str:
    """The type that goes by this name in JSON Schema, Python or .NET (`System.Int32`); `any` for others."""
    plain = name.strip().removeprefix("System.").casefold()
    return plain if plain in _TYPES or plain in _TIMES else _OTHER_NAMES.get(plain, ANY)


def type_of_python(name: str) -> str:
    """The type for a class of Python; `any` for others."""
    return _OF_PYTHON.get(name, ANY)


def type_of_hint(hint: str) -> str:
    """The type of what is asked for with this type of HTML's inputs; a text for others."""
    return _OF_HINTS.get(hint.strip().casefold(), STRING)


def is_text(type: str) -> bool:
    """Whether values of the type are texts of JSON."""
    return type == STRING or type in _TIMES


def type_of_value(value: Any) -> str:
    """The narrowest type of a value of JSON."""
    if isinstance(value, bool):
        return "boolean"
    return next((name for name, kinds in _TYPES.items() if isinstance(value, kinds)), ANY)


def fits(value: Any, type: str) -> bool:
    """Whether a value of JSON is of the type."""
    if type == ANY:
        return True
    if isinstance(value, bool):
        return type == "boolean"
    if type in _TIMES:
        return isinstance(value, str) and _is_time(value, type)
    return isinstance(value, _TYPES[type])


def _is_time(text: str, type: str) -> bool:
    try:
        _TIMES[type](text)
    except ValueError:
        return False
    return True
