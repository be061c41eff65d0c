"""The types of parameters and results: those of JSON Schema, since values travel as JSON."""

from typing import Any

ANY = "any"
STRING = "string"

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
    return plain if plain in _TYPES else _OTHER_NAMES.get(plain, ANY)


def type_of_python(name: str) -> str:
    """The type for a class of Python; `any` for others."""
    return _OF_PYTHON.get(name, ANY)


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
    return isinstance(value, _TYPES[type])
