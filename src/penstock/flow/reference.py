"""The reference page of the flow language, written from what the elements declare."""

import re
import sys
from collections.abc import Iterator
from enum import Enum
from inspect import cleandoc
from typing import Any

import msgspec

from penstock.flow.component import Component, Consumer, Producer
from penstock.flow.element import Element
from penstock.flow.extra_options import ExtraOptions
from penstock.flow.family import FOLDERS, Family
from penstock.flow.language import Language
from penstock.flow.option import Option, options_of
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
    return {Producer: "uri`, `parameters", Language: "expression"}.get(option.kind, option.name)


def _values(option: Option) -> str:
    kind: Any = option.kind
    if option.item is Step:
        return "steps"
    if issubclass(kind, Enum):
        return ", ".join(str(member.value) for member in kind)
    known = {bool: "true or false", int: "whole number", str: "text", Producer: "endpoint"}
    return known.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).lower()


def _default(option: Option) -> str:
    if option.required:
        return "required"
    default = option.default
    if default is msgspec.UNSET or default is None or default == "" or default == () or default == frozenset():
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    return str(default)


if __name__ == "__main__":
    sys.stdout.write(reference(registry()))
