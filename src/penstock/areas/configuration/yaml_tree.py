"""YAML as a tree whose nodes know their lines.

Read from parser events, so that depth and aliases are bounded before anything is built. Scalars follow the core
schema of YAML 1.2: only `true`, `false`, `null`, `~`, whole and decimal numbers are not text. `on`, `no`, `1:30` and
`2026-01-31` are text.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import yaml

from penstock.kernel.errors import FieldError

DEEPEST = 64
MOST_VALUES = 1_000_000
MOST_ERRORS = 1000
_NUMBER_LENGTH = 100

_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TAG = "tag:yaml.org,2002:"
_STEP = re.compile(r"\[(\d+)\]")
_END_OF_NAME = re.compile(r"[.\[]")
_MARKER = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_MOST_FAULTS = 100

Loader: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


@dataclass(frozen=True, slots=True)
class Node:
    """A value and the line it is named on: a mapping's entries have the line of their key.

    size: how many nodes it holds, those that aliases repeat counted each time.
    """

    line: int
    value: "str | int | float | bool | list[Node] | dict[str, Node] | None"
    size: int = 1

    def plain(self) -> Any:
        """The value as dicts, lists and scalars."""
        match self.value:
            case dict():
                return {name: node.plain() for name, node in self.value.items()}
            case list():
                return [node.plain() for node in self.value]
        return self.value

    def line_of(self, path: str) -> int:
        """The line of the field at a path like `spec.args[1]`, or of the nearest field around it that exists."""
        node = self
        while path:
            step = _step(node, path)
            if step is None:
                break
            node, path = step
        return node.line


class TreeError(Exception):
    """The text cannot be read any further."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line
        self.message = message


def read_trees(text: str, errors: list[FieldError]) -> Iterator[tuple[int, Node]]:
    """The documents of the text and their numbers from 0; empty ones are passed over.

    What is wrong goes to `errors`. Behind a fault of syntax it goes on with the next document, a few times.
    """
    first, lines_before, values = 0, 0, 0
    for _ in range(_MOST_FAULTS):
        builder = _Builder(text, errors, first, lines_before, values)
        try:
            yield from builder.documents()
            return
        except TreeError as error:
            fault = _Fault(error.line - lines_before, error.line - lines_before, error.message)
        except yaml.MarkedYAMLError as error:
            fault = _Fault.of(error)
        except (yaml.YAMLError, UnicodeEncodeError):
            errors.append(FieldError(builder.place(""), "the text has characters that YAML does not allow"))
            return
        finally:
            builder.close()
        errors.append(FieldError(builder.place(""), f"line {lines_before + fault.line}: {fault.message}"))
        rest = _next_document(text, fault.begin)
        if rest is None or builder.values > MOST_VALUES:
            return
        first, values = builder.number + 1, builder.values
        lines_before += text.count("\n", 0, rest)
        text = text[rest:]


class _Fault(NamedTuple):
    """begin: the line, from 1, where what is faulty begins; line: where it showed."""

    begin: int
    line: int
    message: str

    @classmethod
    def of(cls, error: yaml.MarkedYAMLError) -> "_Fault":
        marks: list[Any] = [mark for mark in (error.context_mark, error.problem_mark) if mark is not None]
        lines = [int(mark.line) + 1 for mark in marks] or [1]
        return cls(min(lines), lines[-1], error.problem or error.context or "is not valid YAML")


def _next_document(text: str, line: int) -> int | None:
    """Where the first document begins that is marked behind a line (from 1); None when there is none."""
    end = -1
    for _ in range(line):
        end = text.find("\n", end + 1)
        if end < 0:
            return None
    found = _MARKER.search(text, end + 1)
    return found.start() if found else None


class _Builder:
    """Reads the documents of a text that is all, or the rest, of what was given.

    number: of the document being read. values: how many values there are so far.
    """

    def __init__(self, text: str, errors: list[FieldError], number: int, lines_before: int, values: int) -> None:
        self.number = number
        self.values = values
        self._text = text
        self._errors = errors
        self._lines_before = lines_before
        self._loader: Any = None
        self._anchors: dict[str, Node] = {}

    def close(self) -> None:
        if self._loader is not None:
            self._loader.dispose()

    def place(self, path: str) -> str:
        return f"documents[{self.number}]{'.' if path and path[0] != '[' else ''}{path}"

    def documents(self) -> Iterator[tuple[int, Node]]:
        self._loader = Loader(self._text)
        self._next()
        while isinstance(self._next(), yaml.DocumentStartEvent):
            self._anchors.clear()
            root = self._node(self._next(), "", 0)
            self._next()
            if root.value is not None:
                yield self.number, root
            self.number += 1

    def _next(self) -> Any:
        return self._loader.get_event()

    def _node(self, event: Any, path: str, depth: int, named: int | None = None) -> Node:
        """named: the line where the node is named, when that is before it begins."""
        line = named or self._line(event)
        if depth > DEEPEST:
            raise TreeError(line, f"is nested deeper than {DEEPEST} levels")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(str(event.anchor), line)
        self._count(1, line)
        if isinstance(event, yaml.ScalarEvent):
            node = Node(line, self._scalar(event, path, line))
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._sequence(event, path, depth, line)
        else:
            node = self._mapping(event, path, depth, line)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, anchor: str, line: int) -> Node:
        # An anchor is known once its node is complete: an alias inside it would never end.
        target = self._anchors.get(anchor)
        if target is None:
            raise TreeError(line, f"the alias '{anchor}' has no anchor before it")
        self._count(target.size, line)
        return Node(line, target.value, target.size)

    def _sequence(self, event: Any, path: str, depth: int, line: int) -> Node:
        self._check_tag(event, "seq", path, line)
        items: list[Node] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._node(event, f"{path}[{len(items)}]", depth + 1))
        return Node(line, items, 1 + sum(item.size for item in items))

    def _mapping(self, event: Any, path: str, depth: int, line: int) -> Node:
        self._check_tag(event, "map", path, line)
        entries: dict[str, Node] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise TreeError(self._line(event), "a name must be text")
            name, key_line = event.value, self._line(event)
            inner = f"{path}.{name}" if path else name
            node = self._node(self._next(), inner, depth + 1, key_line)
            if name in entries:
                self._refuse(inner, key_line, f"is given before, in line {entries[name].line}")
            entries[name] = node
        return Node(line, entries, 1 + sum(node.size for node in entries.values()))

    def _scalar(self, event: Any, path: str, line: int) -> str | int | float | bool | None:
        text, kind = event.value, (event.tag or "").removeprefix(_TAG)
        if kind in ("str", "!") or (not kind and not event.implicit[0]):
            return str(text)
        try:
            value = _resolved(text)
        except ValueError as error:
            self._refuse(path, line, str(error))
            return None
        if kind and kind != _kind(value):
            self._refuse(path, line, f"the tag '{event.tag}' is not allowed here")
        return value

    def _check_tag(self, event: Any, kind: str, path: str, line: int) -> None:
        if event.tag not in (None, "!", _TAG + kind):
            self._refuse(path, line, f"the tag '{event.tag}' is not allowed here")

    def _count(self, values: int, line: int) -> None:
        self.values += values
        if self.values > MOST_VALUES:
            raise TreeError(line, f"there are more than {MOST_VALUES} values, aliases counted each time")

    def _refuse(self, path: str, line: int, message: str) -> None:
        if len(self._errors) < MOST_ERRORS:
            self._errors.append(FieldError(self.place(path), f"line {line}: {message}"))

    def _line(self, event: Any) -> int:
        return self._lines_before + int(event.start_mark.line) + 1


def _resolved(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar. Raises ValueError for a number that no machine holds."""
    if _NULL.fullmatch(text):
        return None
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    integer = _INT.fullmatch(text)
    if not integer and not _FLOAT.fullmatch(text):
        return text
    if len(text) > _NUMBER_LENGTH:
        raise ValueError("is too long for a number; put it in quotes to make it text")
    if integer:
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    number = float(text)
    if math.isinf(number):
        raise ValueError("is too large for a number; put it in quotes to make it text")
    return number


def _kind(value: Any) -> str:
    return {type(None): "null", bool: "bool", int: "int", float: "float"}.get(type(value), "str")


def _step(node: Node, path: str) -> tuple[Node, str] | None:
    """The entry of `node` that the path leads into, and what is left of the path."""
    if isinstance(node.value, list):
        index = _STEP.match(path)
        if index and int(index[1]) < len(node.value):
            return node.value[int(index[1])], path[index.end() :].removeprefix(".")
    if isinstance(node.value, dict):
        # A name may hold dots itself: the longest that fits is meant.
        ends = [len(path), *(found.start() for found in reversed([*_END_OF_NAME.finditer(path)]))]
        for end in ends:
            if path[:end] in node.value:
                return node.value[path[:end]], path[end:].removeprefix(".")
    return None
