"""Ways into a value: `[key]`, `[0]`, `[last]`, `.size()`, `.length()`, with `?` before them when there may be none."""

import re
from collections.abc import Callable, Mapping, Sequence

from penstock.flow.failures.errors import FlowError
from penstock.flow.values import shown

Way = Callable[[object], object]

_STEP = re.compile(
    r"(\?)?(?:\[(?P<quote>['\"]?)(?P<key>[^\[\]]+?)(?P=quote)\]|\.(?P<call>size|length|isEmpty)(?:\(\))?)"
)
_INDEX = re.compile(r"last(?:-(\d+))?|(\d+)", re.ASCII)


class NoMember(FlowError):
    """A value has not what an expression asks of it."""

    code = "no-member"
    title = "The value has no such member"
    java = (
        "org.apache.camel.language.bean.RuntimeBeanExpressionException",
        "java.lang.IndexOutOfBoundsException",
        "org.apache.camel.RuntimeCamelException",
        "java.lang.RuntimeException",
    )


class NoEntry(NoMember):
    """A list is shorter than that."""


def way(source: str) -> Way | None:
    """What leads into a value as `source` says; None when it is not known here. Empty: the value itself."""
    steps: list[tuple[Way, bool]] = []
    position = 0
    while position < len(source):
        match = _STEP.match(source, position)
        if match is None:
            return None
        step = _keyed(match["key"]) if match["key"] is not None else _CALLS[match["call"]]
        steps.append((step, bool(match[1])))
        position = match.end()
    return _along(steps)


def _along(steps: Sequence[tuple[Way, bool]]) -> Way:
    """Follows the steps; where there is nothing at the beginning, there is nothing at the end."""

    def follow(value: object) -> object:
        if value is None:
            return None
        for step, is_safe in steps:
            if is_safe and value is None:
                return None
            try:
                value = step(value)
            except NoEntry:
                if not is_safe:
                    raise
                return None
        return value

    return follow


def _keyed(key: str) -> Way:
    index = _INDEX.fullmatch(key)

    def step(value: object) -> object:
        if isinstance(value, Mapping):
            return value.get(key, value.get(int(key)) if key.isdigit() else None)
        if isinstance(value, list | tuple) and index is not None:
            place = int(index[2]) if index[2] else len(value) - 1 - int(index[1] or 0)
            if not 0 <= place < len(value):
                raise NoEntry(f"there is no entry {key} in a list of {len(value)}")
            return value[place]
        raise NoMember(f"'{key}' cannot be looked up in: {shown(value)[:100]}")

    return step


def _size(value: object) -> object:
    if isinstance(value, Mapping | list | tuple):
        return len(value)
    raise NoMember(f"size() is of a list or a map, not of: {shown(value)[:100]}")


def _length(value: object) -> object:
    if isinstance(value, str | list | tuple | bytes):
        return len(value)
    raise NoMember(f"length() is of a text, not of: {shown(value)[:100]}")


def _is_empty(value: object) -> object:
    if isinstance(value, Mapping | list | tuple | str):
        return not value
    raise NoMember(f"isEmpty() is of a text, a list or a map, not of: {shown(value)[:100]}")


_CALLS: dict[str, Way] = {"size": _size, "length": _length, "isEmpty": _is_empty}
