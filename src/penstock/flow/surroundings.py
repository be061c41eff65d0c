"""What flows may use of the place where they run."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self
from weakref import WeakValueDictionary

import msgspec

from penstock.egress.address_guard import AddressGuard
from penstock.egress.guarded_http import GuardedHttp
from penstock.egress.local_folders import LocalFolders
from penstock.flow.http.http_server import HttpServer

if TYPE_CHECKING:
    from penstock.flow.sql.databases import Databases

_MIB = 1024 * 1024


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """How far flows reach.

    allow_private: whether they may connect to private, loopback and link-local addresses.
    folders: below which they may read and write files. http_port: None for no HTTP server, 0 for a free port.
    most: bytes of a body that is read from HTTP or a file.
    """

    allow_private: bool = False
    folders: Sequence[Path] = ()
    http_host: str = "127.0.0.1"
    http_port: int | None = None
    most: int = 64 * _MIB


class FlowSurroundings:
    """What all flows of an engine share, within `async with`. most: as in Reach.

    server: of the place, which others use as well; one of its own without.
    """

    def __init__(self, reach: Reach, server: HttpServer | None = None) -> None:
        self.guard = AddressGuard(allow_private=reach.allow_private)
        self.folders = LocalFolders(reach.folders)
        self.http = GuardedHttp(self.guard)
        self.server = server or HttpServer(reach.http_host, reach.http_port, reach.most)
        self._own_server = server is None
        self._databases: Databases | None = None
        self.most = reach.most
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._stack = AsyncExitStack()

    @property
    def databases(self) -> "Databases":
        """Made when a flow first asks for it: what it loads is large, and most agents never need it."""
        if self._databases is None:
            from penstock.flow.sql.databases import Databases

            self._databases = Databases(self.guard, self.folders)
        return self._databases

    def turn(self, name: str) -> asyncio.Lock:
        """A lock that all who ask with the name share, for as long as one of them keeps it."""
        lock = self._turns.get(name)
        if lock is None:
            lock = self._turns[name] = asyncio.Lock()
        return lock

    async def __aenter__(self) -> Self:
        self._stack.push_async_callback(self._close_databases)
        if self._own_server:
            await self._stack.enter_async_context(self.server)
        await self._stack.enter_async_context(self.http)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def _close_databases(self) -> None:
        if self._databases is not None:
            await self._databases.close()
