"""What an annotation is made of: used to walk Structs for errors, times and schemas."""

import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec


@dataclass(frozen=True)
class Shape:
    """An annotation taken apart.

    type: the bare type, an array's item type when `is_array`.
    annotation: what msgspec converts to, Annotated constraints and optionality kept.
    item: the annotation of an array's items.
    """

    annotation: Any
    type: Any
    is_array: bool
    is_optional: bool
    item: Any = None

    @property
    def is_struct(self) -> bool:
        return isinstance(self.type, type) and issubclass(self.type, msgspec.Struct)


@cache
def shape_of(annotation: Any) -> Shape:
    """The shape of an annotation: a scalar, a Struct, an array of either, each perhaps optional."""
    bare, optional = _without_none(_bare(annotation))
    array = get_origin(bare) in (list, tuple, frozenset, set, Sequence)
    item = get_args(bare)[0] if array else None
    if array:
        bare, _ = _without_none(_bare(item))
    if get_origin(bare) in (dict, Mapping):
        bare = dict
    return Shape(annotation, get_origin(bare) or bare, array, optional, item)


@cache
def holds_time(struct: type[msgspec.Struct]) -> bool:
    """Whether the Struct, or one inside it, has a datetime field."""
    shapes = [shape_of(field.type) for field in msgspec.structs.fields(struct)]
    return any(
        shape.type is datetime or (shape.is_struct and shape.type is not struct and holds_time(shape.type))
        for shape in shapes
    )


def _bare(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _without_none(annotation: Any) -> tuple[Any, bool]:
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation, False
    members = [member for member in get_args(annotation) if member is not types.NoneType]
    optional = len(members) < len(get_args(annotation))
    return (_bare(members[0]) if len(members) == 1 else annotation), optional
