"""What msgspec finds wrong with a value, in words for people: what is allowed there."""

import re
from enum import Enum

from penstock.kernel.shape import Shape

_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "str": "a string",
    "bool": "true or false",
    "array": "an array",
    "object": "an object",
    "bytes": "base64 text",
}
_GIVEN = {**_TYPES, "float": "a decimal number", "bool": "a boolean", "null": "null"}
_BOUNDS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than", "==": ""}
_WRONG_TYPE = re.compile(r"Expected `([^`]+)`, got `(\w+)`")
_OUT_OF_BOUNDS = re.compile(r"Expected `[^`]+` (>=|<=|>|<) (\S+)")
_WRONG_LENGTH = re.compile(r"Expected `([^`]+)` of length (>=|<=|==) (\d+)")
_OTHERS = {
    "Invalid UUID": "must be a UUID",
    "Invalid base64 encoded string": "must be base64",
    "Integer value out of range": "must fit into 64 bits",
}


def is_wrong_type(message: str) -> bool:
    """Whether a msgspec.ValidationError tells of a value of another JSON type."""
    return _WRONG_TYPE.match(message) is not None


def in_words(message: str, shape: Shape) -> str:
    """message: of a msgspec.ValidationError, or of what a type's own reader raised. shape: what was wanted."""
    text = message.split(" - at `")[0]
    if found := _WRONG_TYPE.fullmatch(text):
        return f"must be {_types(found[1])}, not {_GIVEN.get(found[2], found[2])}"
    if found := _OUT_OF_BOUNDS.fullmatch(text):
        return f"must be {_BOUNDS[found[1]]} {found[2]}"
    if found := _WRONG_LENGTH.fullmatch(text):
        things = "items" if found[1].startswith("array") else "characters"
        return " ".join(f"must have {_BOUNDS[found[2]]} {found[3]} {things}".split())
    if text.startswith("Invalid enum value") and issubclass(shape.type, Enum):
        return f"must be one of {', '.join(str(member.value) for member in shape.type)}"
    return _OTHERS.get(text) or text[:1].lower() + text[1:]


def _types(names: str) -> str:
    # What may be null may be left out as well, which nobody who gave a value needs to hear.
    return " or ".join(_TYPES.get(name, name) for name in names.split(" | ") if name != "null")
