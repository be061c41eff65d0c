"""What is asked of events by their source, type and version, each exact or `*`."""

from collections.abc import Collection, Iterable

ANY = "*"
"""Stands for any source, type or version."""

Pattern = tuple[str, str, str]
"""Source, type and version, each exact or `*`."""


class PatternIndex:
    """Who asks for an event. It is looked up under each combination of its own values and `*` that is in use, at most
    eight, however many patterns there are."""

    def __init__(self, patterns: Iterable[tuple[Pattern, str]]) -> None:
        """patterns: each with who asks, such as the id of a channel."""
        asking: dict[Pattern, dict[str, None]] = {}
        for pattern, who in patterns:
            asking.setdefault(pattern, {})[who] = None
        self._asking = asking
        self._wildcards = sorted({(source == ANY, type == ANY, version == ANY) for source, type, version in asking})

    def asking(self, source: str, type: str, version: str) -> Collection[str]:
        """Who asks for such events, each once."""
        found: dict[str, None] = {}
        for any_source, any_type, any_version in self._wildcards:
            pattern = (ANY if any_source else source, ANY if any_type else type, ANY if any_version else version)
            found |= self._asking.get(pattern, {})
        return found.keys()
