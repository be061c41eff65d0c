"""A flow as it was parsed."""

import msgspec

from penstock.flow.route import Route


class FlowDefinition(msgspec.Struct, frozen=True):
    """name: the flow's, unique in an engine. version: of its text. source: the document."""

    name: str
    version: str
    source: str
    routes: tuple[Route, ...]
