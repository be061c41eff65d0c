"""JSON Schemas of the types that operations take and give."""

import inspect
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from penstock.kernel.duration import Duration
from penstock.kernel.shape import Shape, shape_of

# Not `duration`, which is ISO 8601 in JSON Schema; requests may use that too.
_DURATION = {"type": "string", "format": "time-span", "examples": ["00:00:15", "1.02:30:00"]}
_NULL = {"type": "null"}


def schemas_of(annotations: Sequence[Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A schema for each annotation, and the components that they refer to by name.

    Raises TypeError when two Structs have one name.
    """
    schemas, components = msgspec.json.schema_components(
        annotations, schema_hook=_schema_hook, ref_template="#/components/schemas/{name}"
    )
    for struct in _structs(annotations):
        _complete(components[struct.__name__], struct)
    with_times = [_with_time(schema, shape_of(a)) for schema, a in zip(schemas, annotations, strict=True)]
    return with_times, components


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a value that may be left out but is never null, such as a parameter."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != _NULL]
    return kinds[0] if len(kinds) == 1 else schema


def _schema_hook(wanted: type) -> dict[str, Any]:
    if wanted is Duration:
        return dict(_DURATION)
    if wanted is msgspec.Raw:
        return {}
    raise NotImplementedError(wanted)


def _complete(component: dict[str, Any], struct: type[msgspec.Struct]) -> None:
    shapes = {field.encode_name: shape_of(field.type) for field in msgspec.structs.fields(struct)}
    if not struct.__struct_config__.omit_defaults:
        # Answers carry every field, so what is never null is required, whatever a request may leave out.
        component["required"] = [name for name, shape in shapes.items() if not shape.is_optional]
    for name, shape in shapes.items():
        component["properties"][name] = _with_time(component["properties"][name], shape)
    if "description" in component:
        component["description"] = inspect.cleandoc(component["description"])


def _with_time(schema: dict[str, Any], shape: Shape) -> dict[str, Any]:
    # msgspec names the format only of datetimes that insist on an offset.
    if shape.type is not datetime or shape.is_array:
        return schema
    if "anyOf" in schema:
        return {**schema, "anyOf": [kind if kind == _NULL else {**kind, **_TIME} for kind in schema["anyOf"]]}
    return {**schema, **_TIME}


_TIME = {"format": "date-time"}


def _structs(annotations: Iterable[Any]) -> set[type[msgspec.Struct]]:
    found: dict[str, type[msgspec.Struct]] = {}
    waiting = list(annotations)
    while waiting:
        shape = shape_of(waiting.pop())
        if not shape.is_struct or found.get(shape.type.__name__) is shape.type:
            continue
        if shape.type.__name__ in found:
            raise TypeError(f"two types of the API are called {shape.type.__name__}")
        found[shape.type.__name__] = shape.type
        waiting += [field.type for field in msgspec.structs.fields(shape.type)]
    return set(found.values())
