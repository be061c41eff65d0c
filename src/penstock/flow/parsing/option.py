"""The options of an element: what its Struct declares, and how their texts are read."""

import collections.abc
from enum import Enum
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from penstock.flow.element import Element
from penstock.flow.language import Use
from penstock.flow.parsing.document import Mapping, Node, Scalar, Sequence
from penstock.flow.text import Reference, Text


class NeedsVariables(Exception):
    """An option's value depends on variables that are not known yet."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(", ".join(sorted(names)))
        self.names = names


class Option:
    """One option. name: as written in documents. attribute: as in the Struct. kind: its bare type.

    default: NODEFAULT when the option is required.
    """

    __slots__ = ("_annotation", "attribute", "default", "description", "extras", "kind", "name")

    def __init__(self, field: msgspec.structs.FieldInfo, annotation: Any) -> None:
        self.name = field.encode_name
        self.attribute = field.name
        self.kind = _bare(annotation)
        self.default = field.default
        self.extras = _extras(annotation)
        self.description = (
            next((extra.description for extra in self.extras if isinstance(extra, msgspec.Meta)), "") or ""
        )
        self._annotation = _given_form(annotation)

    @property
    def required(self) -> bool:
        return self.default is msgspec.NODEFAULT

    @property
    def item(self) -> Any:
        """What the option is a list of; None when it is no list."""
        return get_args(self.kind)[0] if get_origin(self.kind) is tuple else None

    @property
    def use(self) -> Use:
        """What an expression is for."""
        return Use.CONDITION if Use.CONDITION in self.extras else Use.VALUE

    def read(self, node: Node, variables: collections.abc.Mapping[str, str]) -> Any:
        """The node as the option's type. variables: the values known so far.

        Raises ValueError, with what is allowed, or NeedsVariables.
        """
        if isinstance(node, Mapping) and hasattr(self.kind, "parse_mapping"):
            return self.kind.parse_mapping([(name.text, _text(value)) for name, value in node.entries])
        if isinstance(node, Sequence):
            if not hasattr(self.kind, "parse_all"):
                raise ValueError("must be a single value, not a list")
            return self.kind.parse_all([_text(item) for item in node.items])
        text = _text(node)
        if not getattr(self.kind, "takes_variables", False):
            text = _filled(text, variables)
        return self._converted(text)

    def _converted(self, text: str) -> Any:
        if hasattr(self.kind, "parse"):
            return self.kind.parse(text)
        if isinstance(self.kind, type) and issubclass(self.kind, Enum):
            allowed = [str(member.value) for member in self.kind]
            if text not in allowed:
                raise ValueError(f"must be one of {', '.join(allowed)}")
            return self.kind(text)
        try:
            return msgspec.convert(text, self._annotation, strict=False)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)[:1].lower() + str(error)[1:]) from None


@cache
def options_of(element: type[Element]) -> tuple[Option, ...]:
    """The element's options, in the order of declaration."""
    annotations = get_type_hints(element, include_extras=True)
    return tuple(Option(field, annotations[field.name]) for field in msgspec.structs.fields(element))


def _text(node: Node) -> str:
    if not isinstance(node, Scalar):
        raise ValueError("must be a text, a number, true or false")
    if node.null:
        raise ValueError("needs a value; an empty text is written ''")
    return node.text


def _filled(text: str, variables: collections.abc.Mapping[str, str]) -> str:
    if "{{" not in text:
        return text
    parts = Text.parse(text).parts
    missing = frozenset(part for part in parts if isinstance(part, Reference)) - variables.keys()
    if missing:
        raise NeedsVariables(missing)
    return "".join(variables[part] if isinstance(part, Reference) else part for part in parts)


def _bare(annotation: Any) -> Any:
    """The type without Annotated and without `| None`."""
    if hasattr(annotation, "__metadata__"):
        return _bare(annotation.__origin__)
    inner = _without_none(annotation)
    return _bare(inner) if inner is not annotation else annotation


def _given_form(annotation: Any) -> Any:
    """The type that a given value has: limits cannot stand on one that may be None."""
    if not hasattr(annotation, "__metadata__"):
        return annotation
    return Annotated[(_without_none(annotation.__origin__), *annotation.__metadata__)]


def _without_none(annotation: Any) -> Any:
    members = [member for member in get_args(annotation) if member is not type(None)]
    optional = len(members) == 1 and type(None) in get_args(annotation)
    return members[0] if optional else annotation


def _extras(annotation: Any) -> tuple[Any, ...]:
    """What Annotated says beside the type, at any depth."""
    own = getattr(annotation, "__metadata__", ())
    inner = (annotation.__origin__,) if own else get_args(annotation) if type(None) in get_args(annotation) else ()
    return (*own, *(extra for each in inner for extra in _extras(each)))
