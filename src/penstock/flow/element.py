"""The base of everything a flow is written with: components, steps, languages."""

from typing import ClassVar

import msgspec

from penstock.kernel.wire import WireMeta, document_name


class Element(msgspec.Struct, metaclass=WireMeta, rename=document_name, frozen=True):
    """One use of an element in a flow; its fields are the options, declared once.

    A field's type says how its text is read: what msgspec converts from a string, or a class with
    `parse(text)` that raises ValueError. Its Meta description is the documentation.

    element: the name in documents.
    shorthand: the option that a plain text gives, as in `log: message`; empty when a mapping is needed.
    """

    element: ClassVar[str] = ""
    shorthand: ClassVar[str] = ""
