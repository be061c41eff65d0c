"""An event source as a runner uses it: polled on and on, or listened to."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from penstock.connectors.registry import Family, built, registry
from penstock.connectors.source import Finding, Findings, SourceFailed, SourceKind
from penstock.connectors.source_surroundings import SourceSurroundings
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import PenstockError
from tests.nats_server import eventually


def source(identifier: str, **configuration: Any) -> SourceKind:
    """A use of a built-in kind."""
    use: SourceKind = built(registry().kind(Family.SOURCE, identifier, None), configuration)
    return use


def surroundings(*, allow_private: bool = True, folders: Sequence[Path] | None = None) -> SourceSurroundings:
    guard = AddressGuard(allow_private=allow_private)
    return SourceSurroundings("test", datetime.now(UTC), guard, SystemClock(), folders)


class Polled:
    """Keeps the position from poll to poll."""

    def __init__(self, use: SourceKind, around: SourceSurroundings | None = None) -> None:
        self.use = use
        self.position: Any = None
        self._surroundings = around or surroundings()

    async def poll(self) -> list[Finding]:
        """All that there is."""
        found: list[Finding] = []
        more = True
        while more:
            findings = await self.use.poll(self.position, self._surroundings)
            found += findings.found
            self.position, more = findings.position, findings.more
        return found


class Heard:
    """What a listening source emitted. refuse: what it emits cannot be kept, while this is set."""

    def __init__(self) -> None:
        self.found: list[Finding] = []
        self.position: Any = None
        self.began = False
        self.refuse = False
        self.ended: BaseException | None = None

    async def emit(self, findings: Findings) -> None:
        if self.refuse and findings.found:
            raise SourceFailed("cannot be kept")
        self.began = True
        self.found += findings.found
        self.position = findings.position

    async def until(self, condition: Callable[[], bool]) -> None:
        await eventually(condition)


@asynccontextmanager
async def listening(use: SourceKind, position: Any = None) -> AsyncIterator[Heard]:
    """Listens until the context is left; gives what is heard, once the source has begun or ended."""
    heard = Heard()

    async def listen() -> None:
        try:
            await use.listen(position, heard.emit, surroundings())
        except PenstockError as error:
            heard.ended = error

    task = asyncio.create_task(listen())
    try:
        await eventually(lambda: heard.began or heard.ended is not None)
        yield heard
    finally:
        task.cancel()
        await asyncio.wait({task})
