"""Envoy's log as ours, without what it shows of its configuration, which holds keys."""

import asyncio
import collections
import re

import structlog

_log = structlog.get_logger(__name__)
FORMAT = "envoy|%l|%v"
_LINE = re.compile(r"envoy\|(?P<level>[a-z]+)\|(?P<text>.*)")
_REFUSAL = "config update rejected:"
_SHOWN_FROM_HERE = "goo.gle/"
"""Envoy's mark before a message that it shows in full, over many lines."""
_STOPPING = "caught ENVOY_SIGTERM"
_SUBJECT = re.compile(r'name: "(?P<name>[^"]*)"')
_LONGEST = 300
_PATIENCE_SECONDS = 1.0


class EnvoyLog:
    """Takes the lines of one run."""

    def __init__(self) -> None:
        self._errors: collections.deque[str] = collections.deque(maxlen=3)
        self._refusal: str | None = None
        self._subject = ""
        self._shows = False
        self._refused = asyncio.Event()

    @property
    def last_words(self) -> str:
        return "; ".join(self._errors) or "it says nothing"

    async def refusal(self) -> str:
        """Why it refused what it was told last: asked for as soon as it did, this waits for the words."""
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self._refused.wait()
        except TimeoutError:
            return "it does not say why"
        self._refused.clear()
        return self._refusal or ""

    def take(self, line: str) -> None:
        """Lines without a level are what a message goes on with."""
        match = _LINE.match(line)
        if match is None:
            self._take_rest(line)
            return
        before, mark, _ = match["text"].partition(_SHOWN_FROM_HERE)
        self._shows, self._subject = bool(mark), ""
        _, refused, reason = before.partition(_REFUSAL)
        if refused and not mark:
            self._refuse(reason)
        elif match["level"] in ("error", "critical"):
            self._errors.append(before[:_LONGEST].strip())
            _log.error("envoy", text=before[:_LONGEST].strip())
        elif not refused and _STOPPING not in before:
            _log.warning("envoy", text=before[:_LONGEST].strip())

    def _take_rest(self, line: str) -> None:
        """Of what is shown, the name of the part and, at its end, what is wrong with it."""
        if not self._shows:
            return
        if match := _SUBJECT.match(line):
            self._subject = match["name"]
        elif line.startswith(": "):
            self._shows = False
            reason = line.removeprefix(": ").rstrip(")").rpartition("caused by ")[2]
            self._refuse(f"{self._subject}: {reason}" if self._subject else reason)
            self._errors.append(reason[:_LONGEST])

    def _refuse(self, reason: str) -> None:
        self._refusal = reason[:_LONGEST].strip()
        self._refused.set()
