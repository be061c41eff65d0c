"""The parts of OpenAPI 3 documents, and where each lies: enough to rewrite them without touching examples."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any

from penstock.kernel.errors import PenstockError

Object = dict[str, Any]

_DEEPEST = 60
_MOST = 100_000
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


class Malformed(PenstockError):
    """A document that cannot be published; the detail says why."""

    code = "malformed-document"
    title = "The OpenAPI document cannot be published"


class Part(Enum):
    """An object of the specification."""

    PATH = auto()
    OPERATION = auto()
    PARAMETER = auto()
    BODY = auto()
    MEDIA = auto()
    ENCODING = auto()
    RESPONSE = auto()
    HEADER = auto()
    LINK = auto()
    EXAMPLE = auto()
    SCHEMA = auto()


class How(Enum):
    """How many are held, and in what."""

    ONE = auto()
    LIST = auto()
    MAP = auto()


_CONTENT = {"content": (How.MAP, Part.MEDIA), "examples": (How.MAP, Part.EXAMPLE)}
_SCHEMA = {"schema": (How.ONE, Part.SCHEMA), **_CONTENT}
_SCHEMAS: Mapping[How, Sequence[str]] = {
    How.ONE: (
        "items",
        "additionalProperties",
        "unevaluatedItems",
        "unevaluatedProperties",
        "not",
        "if",
        "then",
        "else",
        "contains",
        "propertyNames",
        "contentSchema",
    ),
    How.LIST: ("allOf", "anyOf", "oneOf", "prefixItems"),
    How.MAP: ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions"),
}
HELD: Mapping[Part, Mapping[str, tuple[How, Part]]] = {
    Part.PATH: {
        "parameters": (How.LIST, Part.PARAMETER),
        **dict.fromkeys(METHODS, (How.ONE, Part.OPERATION)),
    },
    Part.OPERATION: {
        "parameters": (How.LIST, Part.PARAMETER),
        "requestBody": (How.ONE, Part.BODY),
        "responses": (How.MAP, Part.RESPONSE),
    },
    Part.PARAMETER: _SCHEMA,
    Part.HEADER: _SCHEMA,
    Part.BODY: {"content": (How.MAP, Part.MEDIA)},
    Part.MEDIA: {**_SCHEMA, "encoding": (How.MAP, Part.ENCODING)},
    Part.ENCODING: {"headers": (How.MAP, Part.HEADER)},
    Part.RESPONSE: {"headers": (How.MAP, Part.HEADER), "links": (How.MAP, Part.LINK), **_CONTENT},
    Part.LINK: {},
    Part.EXAMPLE: {},
    Part.SCHEMA: {name: (how, Part.SCHEMA) for how, names in _SCHEMAS.items() for name in names},
}
COMPONENTS: Mapping[str, Part] = {
    "schemas": Part.SCHEMA,
    "responses": Part.RESPONSE,
    "parameters": Part.PARAMETER,
    "examples": Part.EXAMPLE,
    "requestBodies": Part.BODY,
    "headers": Part.HEADER,
    "links": Part.LINK,
    "pathItems": Part.PATH,
}

Edit = Callable[[Part, Object], Object]
"""What becomes of a part, before those that it holds are looked at; answers a new object."""


class Rewriting:
    """Rewrites every part below one, in a document of bounded size and depth. Raises Malformed."""

    def __init__(self, edit: Edit) -> None:
        self._edit = edit
        self._left = _MOST

    def part(self, part: Part, value: Any, place: str, depth: int = 0) -> Any:
        if part is Part.SCHEMA and isinstance(value, bool):
            return value
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            raise Malformed(f"{place} is too deep" if depth > _DEEPEST else "it is too large")
        found = self._edit(part, as_object(value, place))
        for name, (how, inner) in HELD[part].items():
            if name not in found:
                continue
            below = f"{place}.{name}"
            match how:
                case How.ONE:
                    found[name] = self.part(inner, found[name], below, depth + 1)
                case How.LIST:
                    found[name] = [self.part(inner, each, below, depth + 1) for each in as_list(found[name], below)]
                case How.MAP:
                    found[name] = {
                        key: self.part(inner, each, f"{below}.{key}", depth + 1)
                        for key, each in as_object(found[name], below).items()
                        if part is Part.SCHEMA or not key.startswith("x-") or inner is Part.HEADER
                    }
        return found


def as_object(value: Any, place: str) -> Object:
    """Raises Malformed."""
    if not isinstance(value, dict):
        raise Malformed(f"{place} must be an object")
    return value


def as_list(value: Any, place: str) -> list[Any]:
    """Raises Malformed."""
    if not isinstance(value, list):
        raise Malformed(f"{place} must be a list")
    return value
