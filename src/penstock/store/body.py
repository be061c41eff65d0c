"""Reading stored bodies."""

from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from penstock.kernel.wire import decode_hook
from penstock.store.definition import T


def decode(body: bytes, type: type[T]) -> T:
    """A stored body as its Struct; fields the Struct no longer has are passed over.

    Raises msgspec.ValidationError when the body does not fit otherwise: that asks for a Migration.
    """
    try:
        entity: T = _decoder(type).decode(body)
    except msgspec.ValidationError:
        # Structs of the wire refuse unknown fields, right for input and wrong for what an older release stored.
        known = _without_unknown(msgspec.json.decode(body), _shape(type))
        entity = msgspec.convert(known, type, dec_hook=decode_hook)
    return entity


@cache
def _decoder(type: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(type, dec_hook=decode_hook)


@cache
def _shape(type: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(type)


def _without_unknown(value: Any, shape: inspect.Type) -> Any:
    """`value` without the object fields that no Struct in `shape` has."""
    if isinstance(value, dict):
        return _known_fields(value, shape)
    if isinstance(value, list):
        item = _first(shape, inspect.CollectionType)
        return value if item is None else [_without_unknown(each, item.item_type) for each in value]
    return value


def _known_fields(value: dict[str, Any], shape: inspect.Type) -> dict[str, Any]:
    struct = _struct_for(value, shape)
    if struct is not None:
        fields = {field.encode_name: field.type for field in struct.fields}
        return {
            name: _without_unknown(each, fields[name]) if name in fields else each
            for name, each in value.items()
            if name in fields or name == struct.tag_field
        }
    mapping = _first(shape, inspect.DictType)
    if mapping is None:
        return value
    return {name: _without_unknown(each, mapping.value_type) for name, each in value.items()}


def _struct_for(value: dict[str, Any], shape: inspect.Type) -> inspect.StructType | None:
    structs = [each for each in _alternatives(shape) if isinstance(each, inspect.StructType)]
    tagged = [each for each in structs if each.tag_field and value.get(each.tag_field) == each.tag]
    return next(iter(tagged or structs), None)


def _first(shape: inspect.Type, kind: type[Any]) -> Any:
    return next((each for each in _alternatives(shape) if isinstance(each, kind)), None)


def _alternatives(shape: inspect.Type) -> tuple[inspect.Type, ...]:
    if isinstance(shape, inspect.Metadata):
        return _alternatives(shape.type)
    return tuple(shape.types) if isinstance(shape, inspect.UnionType) else (shape,)
