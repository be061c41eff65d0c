"""The base of everything a flow is written with: components, steps, languages, and their parts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

import msgspec

from penstock.flow.family import Family
from penstock.kernel.wire import WireMeta, document_name

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext


class Element(msgspec.Struct, metaclass=WireMeta, rename=document_name, frozen=True):
    """One use of an element in a flow; its fields are the options, declared once.

    A field's type says how it is read:

    - what msgspec converts from a string, or a class with `parse(text)` that raises ValueError,
    - `Language`: an expression, inline when the field is called `expression`; `Condition`: one that holds or not,
    - `Producer`, `Consumer`: `uri` and `parameters` when the field is called `endpoint`, else a uri,
    - `DataFormat`: one of them by name,
    - another Element, or a tuple of one kind: a mapping, or a list of them; `tuple[Step, ...]`: steps.

    Its Meta description is the documentation.

    element: the name in documents.
    also: other names for it.
    shorthand: the option that a plain text or a list gives, as in `log: message`; empty when a mapping is needed.
    option_family: what an option that it does not have is called in problems.
    """

    element: ClassVar[str] = ""
    also: ClassVar[tuple[str, ...]] = ()
    shorthand: ClassVar[str] = ""
    option_family: ClassVar[Family] = Family.OPTION

    def verify(self) -> None:
        """Raises ValueError when the options do not go together."""

    async def begin(self, flow: "FlowContext") -> None:
        """Called once before the flow takes its first exchange. What it raises keeps the flow from starting."""


def elements_of(element: Element) -> Iterator[Element]:
    """The element and all that stand in it."""
    yield element
    for value in msgspec.structs.astuple(element):
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Element):
                yield from elements_of(inner)
