"""What the operations on configuration answer."""

from typing import Any

from penstock.kernel.wire import Int32, Map, Wire


class PlannedChange(Wire):
    """What applying one document would do.

    Document: its number in the text, from 0. Action: create, change, remove or keep.
    Before, After: the object without secrets; null where it does not exist.
    """

    document: Int32
    kind: str
    name: str
    action: str
    before: Any = None
    after: Any = None


class KindDescription(Wire):
    """A kind of configuration document. Schema: the JSON Schema of its `spec`."""

    kind: str
    description: str
    schema: Map
