"""Paths of operations as routes of the web framework, whose parameters are whole segments."""

import re
from collections.abc import Mapping
from typing import Any

_SEGMENT = re.compile(r"([^/{}]*)\{(\w+)\}([^/{}]*)")


class RoutePath:
    """A path whose parameters may have text around them, such as `/channels/{kind}queue`.

    template: of the route; there the parameter is the whole segment.
    """

    def __init__(self, path: str) -> None:
        self.template = _SEGMENT.sub(r"{\2:str}", path)
        self._texts = {name: (before, after) for before, name, after in _SEGMENT.findall(path) if before or after}

    def values(self, segments: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The parameters' values from those of the route; None when the text around one is not there."""
        if not self._texts:
            return segments
        values = dict(segments)
        for name, (before, after) in self._texts.items():
            segment = values[name]
            value = segment.removeprefix(before).removesuffix(after)
            if not value or before + value + after != segment:
                return None
            values[name] = value
        return values
