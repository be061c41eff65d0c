"""Decoding of input that lists every bad field at once.

The common case is one typed decode. Only when that fails is the input decoded again without types and walked,
so that each field gets its own message and `null` counts as omitted.
"""

from collections.abc import Hashable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from penstock.kernel.errors import Fault, FieldError, Invalid
from penstock.kernel.shape import Shape, holds_time, shape_of
from penstock.kernel.wire import decode_hook, parse_time, utc
from penstock.kernel.wording import in_words, is_wrong_type

T = TypeVar("T")


@cache
def _decoder(wanted: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(wanted, dec_hook=decode_hook)


def decode_json(body: bytes, wanted: Any) -> Any:
    """`body` as the type. Times come out in UTC. Raises Invalid, with all bad fields."""
    try:
        return _with_utc(_decoder(wanted).decode(body), shape_of(wanted))
    except (msgspec.ValidationError, OverflowError):  # overflow: a time whose UTC is outside the calendar
        return from_builtins(_untyped(body), wanted)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid.one("", f"the body is not valid JSON: {error}") from None


def from_builtins(value: Any, wanted: type[T]) -> T:
    """Plain dicts, lists and scalars as the type. Raises Invalid, with all bad fields."""
    walk = _Walk(lenient=False)
    converted: T = walk.convert(value, shape_of(cast(Hashable, wanted)), "")
    if walk.errors:
        raise Invalid(walk.errors)
    return converted


def read_leniently(value: Any, wanted: type[T]) -> tuple[T | None, Sequence[FieldError]]:
    """As from_builtins, for checks that are to go on behind an error: what was read, and every bad field.

    A bad or missing field has its default, or is empty where it has none. None where that cannot be.
    """
    walk = _Walk(lenient=True)
    converted = walk.convert(value, shape_of(cast(Hashable, wanted)), "")
    return (None if converted is _NOTHING else converted), walk.errors


def _untyped(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid.one("", f"the body is not valid JSON: {error}") from None


_NOTHING: Any = object()
"""Stands for a bad value that nothing can stand in for."""


class _Walk:
    """Converts piece by piece. What fails goes to `errors`; in its place comes a stand-in when lenient."""

    def __init__(self, lenient: bool) -> None:
        self.errors: list[FieldError] = []
        self._lenient = lenient

    def convert(self, value: Any, shape: Shape, path: str) -> Any:
        if value is None and shape.is_optional:
            return None
        if shape.is_array and isinstance(value, list | tuple):
            return self._array(value, shape, path)
        if shape.is_struct and not shape.is_array:
            return self._struct(value, shape.type, path)
        return self._scalar(value, shape, path)

    def _array(self, value: Sequence[Any], shape: Shape, path: str) -> Any:
        before, item = len(self.errors), shape_of(shape.item)
        items = [self.convert(entry, item, f"{path}[{index}]") for index, entry in enumerate(value)]
        if len(self.errors) == before:
            return self._scalar(items, shape, path)  # its length, and its kind of array
        return _NOTHING if _NOTHING in items else items

    def _struct(self, value: Any, struct: type[msgspec.Struct], path: str) -> Any:
        if isinstance(value, struct):
            return value
        if not isinstance(value, dict):
            self.errors.append(FieldError(path, f"must be an object, not {_kind(value)}", Fault.TYPE))
            return _Walk(self._lenient)._struct({}, struct, path)
        known = {field.encode_name: field for field in msgspec.structs.fields(struct)}
        before = len(self.errors)
        self.errors += [
            FieldError(_join(path, str(name)), "is not a known field", Fault.UNKNOWN)
            for name in value
            if name not in known
        ]
        arguments: dict[str, Any] = {}
        for name, field in known.items():
            given = value.get(name)
            if given is None and not field.required:
                continue
            converted = self._field(given, shape_of(field.type), _join(path, name))
            if converted is not _NOTHING or field.required:
                arguments[field.name] = converted
        usable = self._lenient or len(self.errors) == before
        return struct(**arguments) if usable and _NOTHING not in arguments.values() else _NOTHING

    def _field(self, given: Any, shape: Shape, path: str) -> Any:
        if given is None and not shape.is_optional:
            return self._refuse(path, "is required", shape)
        return self.convert(given, shape, path)

    def _scalar(self, value: Any, shape: Shape, path: str) -> Any:
        try:
            if shape.type is datetime and not shape.is_array and isinstance(value, str):
                return parse_time(value)
            return _with_utc(msgspec.convert(value, shape.annotation, dec_hook=decode_hook), shape)
        except (msgspec.ValidationError, ValueError) as error:
            fault = Fault.TYPE if is_wrong_type(str(error)) else Fault.VALUE
            return self._refuse(path, in_words(str(error), shape), shape, fault)

    def _refuse(self, path: str, message: str, shape: Shape, fault: Fault = Fault.VALUE) -> Any:
        self.errors.append(FieldError(path, message, fault))
        return _stand_in(shape) if self._lenient else _NOTHING


def _stand_in(shape: Shape) -> Any:
    if shape.is_optional:
        return None
    if shape.is_array:
        return []
    return shape.type() if shape.type in (str, int, float, bool, dict) else _NOTHING


def _with_utc(value: Any, shape: Shape) -> Any:
    if isinstance(value, datetime):
        return utc(value)
    if shape.is_struct and holds_time(shape.type):
        for struct in value if shape.is_array and value is not None else [value]:
            _normalise_times(struct)
    return value


def _normalise_times(struct: Any) -> None:
    for field in msgspec.structs.fields(struct) if struct is not None else ():
        value = getattr(struct, field.name)
        normal = _with_utc(value, shape_of(field.type))
        if normal is not value:
            msgspec.structs.force_setattr(struct, field.name, normal)


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
