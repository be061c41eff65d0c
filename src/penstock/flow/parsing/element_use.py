"""An element as a document uses it, before its options are read."""

from typing import NamedTuple

from penstock.flow.element import Element
from penstock.flow.parsing.document import Node, Scalar
from penstock.flow.parsing.option import options_of

Given = dict[str, tuple[Scalar, Node]]
"""The options as written: name -> where the name stands, and the value."""


class ElementUse(NamedTuple):
    """One use of an element, which stands at `at` and is called `label` in problems. given: options not read yet."""

    kind: type[Element]
    label: str
    at: Node
    given: Given

    @property
    def strangers(self) -> list[str]:
        """What is given and is no option of the element."""
        own = {option.name for option in options_of(self.kind)}
        return [name for name in self.given if name not in own]
