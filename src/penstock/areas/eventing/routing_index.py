"""Which channels an event goes to."""

from collections.abc import Collection, Iterable

from penstock.areas.eventing.stored import ANY

Pattern = tuple[str, str, str]
"""Source, type and version, each exact or `*`."""


class RoutingIndex:
    """Channels by pattern. An event is looked up under each combination of its own values and `*` that is in use,
    at most eight, however many subscriptions there are."""

    def __init__(self, routes: Iterable[tuple[Pattern, str]]) -> None:
        """routes: a pattern and a channel, its id or its name, for each subscription."""
        channels: dict[Pattern, dict[str, None]] = {}
        for pattern, channel in routes:
            channels.setdefault(pattern, {})[channel] = None
        self._channels = channels
        self._wildcards = sorted({(source == ANY, type == ANY, version == ANY) for source, type, version in channels})

    def channels(self, source: str, type: str, version: str) -> Collection[str]:
        """The channels that subscribe to such events, each once."""
        found: dict[str, None] = {}
        for any_source, any_type, any_version in self._wildcards:
            pattern = (ANY if any_source else source, ANY if any_type else type, ANY if any_version else version)
            found |= self._channels.get(pattern, {})
        return found.keys()
