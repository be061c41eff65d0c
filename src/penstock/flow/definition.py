"""A flow as it was parsed."""

import msgspec

from penstock.flow.route import Route


class FlowDefinition(msgspec.Struct, frozen=True):
    """name: the flow's, unique in an engine. version: of its text. source: the document.

    needs: variables whose values must be known before the routes can be made; then there are no routes yet.
    """

    name: str
    version: str
    source: str
    routes: tuple[Route, ...]
    needs: frozenset[str] = frozenset()
