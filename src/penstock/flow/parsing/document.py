"""The nodes of a YAML document with their positions, for errors that name the line.

Read from parser events, not with yaml.compose: the C composer recurses and a few thousand brackets
end the process.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml
from yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)

from penstock.flow.parsing.problem import Problem, Problems

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 60
_NULL = re.compile(r"~|null|Null|NULL|", re.ASCII)


@dataclass(slots=True)
class Scalar:
    """A text as written; `null` says that it is one of YAML's forms of no value. Lines count from 1."""

    text: str
    null: bool
    line: int
    column: int


@dataclass(slots=True)
class Sequence:
    line: int
    column: int
    items: list["Node"] = field(default_factory=list)


@dataclass(slots=True)
class Mapping:
    line: int
    column: int
    entries: list[tuple[Scalar, "Node"]] = field(default_factory=list)


Node = Scalar | Sequence | Mapping


def read_document(text: str, problems: Problems) -> Node | None:
    """The single document in `text`; None, with problems added, when it is none, several or no YAML."""
    try:
        roots = list(_roots(yaml.parse(text, Loader=_LOADER), problems))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        problems.append(Problem(line, column, "document", f"is not YAML: {error.problem or error.context}"))
        return None
    except yaml.YAMLError as error:
        problems.append(Problem(1, 1, "document", f"is not YAML: {error}"))
        return None
    except _Refused as refused:
        problems.append(refused.problem)
        return None
    if len(roots) != 1:
        problems.append(Problem(1, 1, "document", "must hold one YAML document with a list of routes"))
        return None
    return roots[0]


class _Refused(Exception):
    def __init__(self, event: Event, message: str) -> None:
        super().__init__(message)
        line, column = _position(event)
        self.problem = Problem(line, column, "document", message)


def _roots(events: Iterator[Event], problems: Problems) -> Iterator[Node]:
    for event in events:
        if isinstance(event, DocumentStartEvent):
            yield _Tree(events, problems).root()


class _Tree:
    """Builds one document's nodes with its own stack, so that depth costs no recursion."""

    def __init__(self, events: Iterator[Event], problems: Problems) -> None:
        self._events = events
        self._problems = problems
        self._open: list[tuple[Sequence | Mapping, Scalar | None]] = []

    def root(self) -> Node:
        while True:
            event = next(self._events)
            if isinstance(event, NodeEvent):
                node = self._begin(event)
                if isinstance(node, Scalar) and not self._open:
                    return node
            else:  # the end of a sequence or mapping
                node, _ = self._open.pop()
                if not self._open:
                    return node

    def _begin(self, event: NodeEvent) -> Node:
        node = _node(event)
        if self._open:
            self._attach(node, event)
        if not isinstance(node, Scalar):
            if len(self._open) >= _DEEPEST:
                raise _Refused(event, f"is nested deeper than {_DEEPEST} levels")
            self._open.append((node, None))
        return node

    def _attach(self, node: Node, event: NodeEvent) -> None:
        parent, key = self._open[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif key is not None:
            if any(known.text == key.text for known, _ in parent.entries):
                self._problems.append(Problem(key.line, key.column, key.text, "is given twice"))
            parent.entries.append((key, node))
            self._open[-1] = (parent, None)
        elif isinstance(node, Scalar):
            self._open[-1] = (parent, node)
        else:
            raise _Refused(event, "has a key that is not a plain text")


def _node(event: NodeEvent) -> Node:
    line, column = _position(event)
    if isinstance(event, AliasEvent):
        raise _Refused(event, "uses an alias (*), which flows do not know")
    if isinstance(event, ScalarEvent):
        plain = event.implicit[0] and event.style in (None, "")
        return Scalar(event.value, bool(plain and _NULL.fullmatch(event.value)), line, column)
    if isinstance(event, MappingStartEvent):
        return Mapping(line, column)
    assert isinstance(event, CollectionStartEvent)
    return Sequence(line, column)


def _position(event: Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)
