"""A flow as it was parsed."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from penstock.flow.route import Route


class FlowDefinition(msgspec.Struct, frozen=True):
    """name: the flow's, unique in an engine. version: of its text. source: the document.

    needs: variables whose values must be known before the routes can be made; then there are no routes yet.
    variables: the flow's own, by name; they come before those of the platform.
    folder: where the files beside the flow are; None when there are none.
    packages: what it needs beside the engine: Maven coordinates, or Python requirements.
    """

    name: str
    version: str
    source: str
    routes: tuple[Route, ...]
    needs: frozenset[str] = frozenset()
    variables: Mapping[str, str] = {}
    folder: Path | None = None
    packages: tuple[str, ...] = ()
