"""The reference page of the flow language, written from what the elements declare."""

import re
import sys
from collections.abc import Iterator
from enum import Enum
from inspect import cleandoc
from typing import Any

import msgspec

from penstock.flow.component import Component, Consumer, Producer
from penstock.flow.dataformat import DataFormat
from penstock.flow.element import Element
from penstock.flow.family import FOLDERS, Family
from penstock.flow.language import Language, Use
from penstock.flow.parsing.extra_options import ExtraOptions
from penstock.flow.parsing.option import Option, options_of
from penstock.flow.parsing.parser import ENTRIES
from penstock.flow.registry import Registry, registry
from penstock.flow.step import Step

_TITLES = {
    Family.COMPONENT: "Components",
    Family.STEP: "Steps",
    Family.LANGUAGE: "Languages",
    Family.DATA_FORMAT: "Data formats",
}
_HEAD = """# Elements of native flows

Written from the code; see also [the decision](../decisions/0005-native-flow-engine.md). Names and meanings are
Apache Camel's. What is not listed here is refused with the line it stands on.

In texts, `{{var:NAME}}` is a variable and `\\{{` plain braces. Other options take a variable's value when the flow
starts.
"""


def reference(elements: Registry) -> str:
    """The page in Markdown."""
    return "\n".join(_lines(elements))


def _lines(elements: Registry) -> Iterator[str]:
    yield _HEAD
    for family in FOLDERS:
        yield f"## {_TITLES[family]}\n"
        for name in elements.names(family):
            element = elements.find(family, name)
            assert element is not None
            yield from _element(element)
    yield "## At the top of a document\n"
    for entry in ENTRIES.values():
        yield from _element(entry)
    yield "## Parts of other elements\n"
    for part in _parts(elements):
        yield from _element(part)


def _parts(elements: Registry) -> list[type[Element]]:
    """What elements are made of that stands in no list of its own, in order of the names."""
    found: dict[str, type[Element]] = {}
    open_: list[type[Element]] = [*ENTRIES.values()]
    open_ += [kind for family in FOLDERS for name in elements.names(family) if (kind := elements.find(family, name))]
    while open_:
        for option in options_of(open_.pop()):
            kind = option.item or option.kind
            if _is_part(kind) and kind.element not in found:
                found[kind.element] = kind
                open_.append(kind)
    return [found[name] for name in sorted(found)]


def _is_part(kind: Any) -> bool:
    if not isinstance(kind, type) or not issubclass(kind, Element) or kind in ENTRIES.values():
        return False
    return not issubclass(kind, (Component, Step, Language, DataFormat))


def _element(element: type[Element]) -> Iterator[str]:
    yield f"### `{_heading(element)}`\n"
    yield f"{cleandoc(element.__doc__ or '')}\n"
    yield "| option | value | default | meaning |"
    yield "| --- | --- | --- | --- |"
    for option in options_of(element):
        if option.kind is ExtraOptions:
            continue  # told by the element's description
        cells = (f"`{_name(option)}`", _values(option), _default(option), option.description)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _heading(element: type[Element]) -> str:
    if not issubclass(element, Component):
        return element.element
    roles = [role for base, role in ((Consumer, "from"), (Producer, "to")) if issubclass(element, base)]
    return f"{element.element}:{element.path}` in `{'` and `'.join(roles)}"


def _name(option: Option) -> str:
    if option.attribute == "endpoint":
        return "uri`, `parameters"
    if option.kind is DataFormat:
        return "` or `".join(registry().names(Family.DATA_FORMAT))
    return option.name


def _values(option: Option) -> str:
    kind: Any = option.kind
    if option.item is Step:
        return "steps"
    if option.item is not None and issubclass(option.item, Element):
        return f"list of {option.item.element}"
    if option.kind is Language:
        return "condition" if option.use is Use.CONDITION else "expression"
    if _is_part(kind):
        return f"{kind.element}"
    if issubclass(kind, Enum):
        return ", ".join(str(member.value) for member in kind)
    known = {
        bool: "true or false",
        int: "whole number",
        float: "number",
        str: "text",
        Producer: "endpoint",
        Consumer: "endpoint",
    }
    return known.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).lower()


def _default(option: Option) -> str:
    if option.required:
        return "required"
    default = option.default
    if default is msgspec.UNSET or default is None or default == "" or default == () or default == frozenset():
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return ", ".join(str(each) for each in default)
    text = str(default)
    return text if text.isprintable() else f"`{text.encode('unicode_escape').decode()}`"


if __name__ == "__main__":
    sys.stdout.write(reference(registry()))
