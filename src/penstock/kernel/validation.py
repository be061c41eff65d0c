"""Decoding of input that lists every bad field at once.

The common case is one typed decode. Only when that fails is the input decoded again without types and walked,
so that each field gets its own message and `null` counts as omitted.
"""

from collections.abc import Hashable
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, cast

import msgspec

from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.shape import Shape, holds_time, shape_of
from penstock.kernel.wire import decode_hook, parse_time, utc

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
    errors: list[FieldError] = []
    shape = shape_of(cast(Hashable, wanted))
    converted: T = _convert(value, shape, "", errors)
    if errors:
        raise Invalid(errors)
    return converted


def _untyped(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid.one("", f"the body is not valid JSON: {error}") from None


def _convert(value: Any, shape: Shape, path: str, errors: list[FieldError]) -> Any:
    if value is None and shape.is_optional:
        return None
    if shape.is_array and isinstance(value, list | tuple):
        item = shape_of(shape.type)
        return [_convert(entry, item, f"{path}[{index}]", errors) for index, entry in enumerate(value)]
    if shape.is_struct and not shape.is_array:
        return _convert_struct(value, shape.type, path, errors)
    return _convert_scalar(value, shape, path, errors)


def _convert_struct(value: Any, struct: type[msgspec.Struct], path: str, errors: list[FieldError]) -> Any:
    if isinstance(value, struct):
        return value
    if not isinstance(value, dict):
        errors.append(FieldError(path, f"must be an object, not {_kind(value)}"))
        return None
    known = {field.encode_name: field for field in msgspec.structs.fields(struct)}
    before = len(errors)
    errors += [FieldError(_join(path, str(name)), "is not a known field") for name in value if name not in known]
    arguments: dict[str, Any] = {}
    for name, field in known.items():
        given = value.get(name)
        shape = shape_of(field.type)
        if given is None and not field.required:
            continue
        if given is None and not shape.is_optional:
            errors.append(FieldError(_join(path, name), "is required"))
            continue
        arguments[field.name] = _convert(given, shape, _join(path, name), errors)
    return struct(**arguments) if len(errors) == before else None


def _convert_scalar(value: Any, shape: Shape, path: str, errors: list[FieldError]) -> Any:
    try:
        if shape.type is datetime and not shape.is_array and isinstance(value, str):
            return parse_time(value)
        return _with_utc(msgspec.convert(value, shape.annotation, dec_hook=decode_hook), shape)
    except (msgspec.ValidationError, ValueError) as error:
        errors.append(FieldError(path, _readable(str(error))))
        return None


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


def _readable(message: str) -> str:
    text = message.split(" - at `")[0]
    return text[:1].lower() + text[1:]


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
