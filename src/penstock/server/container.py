"""Builds services once, filling constructor arguments by their types."""

import inspect
from collections.abc import Iterable
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_type_hints

T = TypeVar("T")


class WiringError(Exception):
    """A part needs something that nobody provides, or parts need each other in a circle."""


class Container:
    """Holds one object per type.

    A type is found as given, through a port that an area provides, or is built from its constructor when it was
    declared; settings-like classes whose every argument has a default are built on demand.
    """

    def __init__(self) -> None:
        self._objects: dict[type, Any] = {}
        self._declared: set[type] = set()
        self._ports: dict[type, type] = {}
        self._building: list[type] = []

    def put(self, type: type[T], value: T) -> None:
        """Provides an object that exists already."""
        self._objects[type] = value

    def declare(self, types: Iterable[type]) -> None:
        """Lets these classes be built when asked for."""
        self._declared.update(types)

    def provide(self, port: type, implementation: type) -> None:
        """Answers a request for `port` with the object of `implementation`. Raises WiringError when given twice."""
        if port in self._ports:
            raise WiringError(f"{port.__name__} is provided by two areas")
        self._ports[port] = implementation

    def get(self, wanted: type[T]) -> T:
        """The object of this type. Raises WiringError."""
        wanted_class = self._ports.get(wanted, wanted)
        if wanted_class not in self._objects:
            self._objects[wanted_class] = self._build(wanted_class)
        return cast(T, self._objects[wanted_class])

    def _build(self, wanted: type) -> Any:
        if wanted in self._building:
            circle = " -> ".join(t.__name__ for t in [*self._building, wanted])
            raise WiringError(f"parts need each other in a circle: {circle}")
        arguments = _arguments(wanted)
        if wanted not in self._declared and any(p.default is inspect.Parameter.empty for p in arguments.values()):
            needed_by = f", needed by {self._building[-1].__name__}" if self._building else ""
            raise WiringError(f"nobody provides {wanted.__module__}.{wanted.__name__}{needed_by}")
        if wanted not in self._declared:
            return wanted()
        self._building.append(wanted)
        try:
            return wanted(**self._filled(wanted, arguments))
        finally:
            self._building.pop()

    def _filled(self, wanted: type, arguments: dict[str, inspect.Parameter]) -> dict[str, Any]:
        hints = get_type_hints(wanted.__init__)  # type: ignore[misc]
        filled: dict[str, Any] = {}
        for name, argument in arguments.items():
            optional = argument.default is not inspect.Parameter.empty
            annotation = _without_none(hints.get(name))
            if optional and not self._knows(annotation):
                continue
            if not isinstance(annotation, type):
                raise WiringError(f"argument {name} of {wanted.__name__} needs a class as annotation")
            filled[name] = self.get(annotation)
        return filled

    def _knows(self, wanted: Any) -> bool:
        return wanted in self._objects or wanted in self._ports or wanted in self._declared


def _without_none(annotation: Any) -> Any:
    """`X` of `X | None`: a port that perhaps nobody provides."""
    members = [member for member in get_args(annotation) if member is not NoneType]
    return members[0] if isinstance(annotation, UnionType) and len(members) == 1 else annotation


def _arguments(wanted: type) -> dict[str, inspect.Parameter]:
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(wanted).parameters
    return {name: p for name, p in parameters.items() if p.kind not in kinds}
