"""Envoy kept at a table: changed in steps that lose no call, restarted when it dies."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import structlog

from penstock.gateway.envoy.admin import Admin
from penstock.gateway.envoy.bootstrap import bootstrap
from penstock.gateway.envoy.configuration import Configuration, configuration_of
from penstock.gateway.envoy.files import WatchedFiles
from penstock.gateway.envoy.issuer_keys import IssuerKeyBook
from penstock.gateway.envoy.listener import Files, listener
from penstock.gateway.envoy.place import Place, outbound
from penstock.gateway.envoy.routes import KnownMatches
from penstock.gateway.envoy.supervisor import Supervisor
from penstock.gateway.envoy.taken import Taken
from penstock.gateway.envoy.tls import certificate_secret
from penstock.gateway.envoy.typed import Json
from penstock.gateway.settings import GatewaySettings
from penstock.kernel.errors import PenstockError
from penstock.kernel.private_file import write_private
from penstock.protocol.gateway import GatewayTable

_log = structlog.get_logger(__name__)
_BOOTSTRAP = "bootstrap.json"


class Gateway:
    """Serves a table; used as a context manager. Callers are let in with the first table.

    folder: of its own; what Envoy is told, and its access log. Entering raises Invalid for a bad setting, and
    Unavailable when Envoy cannot be started or its address is taken.
    """

    def __init__(self, settings: GatewaySettings, folder: Path) -> None:
        self._settings = settings
        self._folder = folder.absolute()
        self._files = WatchedFiles(self._folder)
        self._keys = IssuerKeyBook(self._folder, settings.allow_private_addresses, self._renew)
        self._matches = KnownMatches()
        self._changing = asyncio.Lock()
        self._table: GatewayTable | None = None
        self._in_force = Configuration()
        self._lets_in = False
        self._problem: str | None = None
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._place = await Place.of(self._settings)
        self._outbound = await outbound(self._settings)
        await asyncio.to_thread(self._prepare)
        async with AsyncExitStack() as opening:
            self._admin = await opening.enter_async_context(Admin(self._folder))
            self._taken = Taken(self._admin, lambda: self._supervisor.refusal())
            self._supervisor = await opening.enter_async_context(
                Supervisor(self._settings.envoy, self._folder / _BOOTSTRAP, self._place.workers, self._admin)
            )
            await opening.enter_async_context(self._keys)
            self._open = opening.pop_all()
        _log.info("Envoy started", address=self.address, pid=self._supervisor.pid)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    @property
    def address(self) -> str:
        """Where callers reach it, as a URL."""
        return self._place.url

    @property
    def access_log(self) -> Path:
        """One line of JSON for each call, as `logged_call.LOG_FORMAT` says."""
        return self._folder / "access.log"

    @property
    def is_running(self) -> bool:
        return self._supervisor.is_running

    @property
    def pid(self) -> int | None:
        return self._supervisor.pid

    @property
    def problem(self) -> str | None:
        """Why it does not serve what it was given, in full."""
        if not self.is_running:
            return "Envoy is not running and is started again"
        return self._problem or self._keys.problem

    async def apply(self, table: GatewayTable) -> None:
        """Returns once callers are served by the table. What is in progress goes on.

        Raises TableRefused with Envoy's reason, and Unavailable while Envoy cannot be spoken with; the table before
        stays in force.
        """
        self._keys.want(table.subscriptions)
        async with self._changing:
            await self._bring(table)
            self._table = table

    async def keys_fetched(self) -> None:
        """Returns once every issuer of tokens has been asked for its keys, and those it has are in force."""
        await self._keys.tried()

    async def fetch_keys(self) -> None:
        """Asks the issuers of tokens for their keys now, which happens every five minutes by itself."""
        await self._keys.fetch()

    async def reopen_log(self) -> None:
        """Has the access log opened again, by its name. Raises Unavailable."""
        await self._admin.reopen_logs()

    async def _renew(self) -> None:
        """The table again, since the keys of an issuer are others."""
        async with self._changing:
            if self._table is not None:
                try:
                    await self._bring(self._table)
                except PenstockError as error:
                    _log.error("new keys of an issuer are not in force", reason=error.detail)

    async def _bring(self, table: GatewayTable) -> None:
        before = self._in_force
        wanted = await asyncio.to_thread(configuration_of, table, self._keys.known, self._outbound, self._matches)
        try:
            await self._change(before, wanted)
        except PenstockError as error:
            self._problem = error.detail
            await self._go_back(before)
            raise
        self._in_force, self._lets_in, self._problem = wanted, True, None

    async def _change(self, before: Configuration, wanted: Configuration) -> None:
        """What routes refer to is there before them, and goes after them."""
        if self._lets_in:
            await self._tell(wanted.with_those_of(before).beneath())
            await self._tell(wanted.above())
            await self._tell(wanted.beneath())
        else:
            await self._tell({**wanted.beneath(), **wanted.above(), Files.LISTENERS: [self._listener()]})

    async def _go_back(self, before: Configuration) -> None:
        listeners = [self._listener()] if self._lets_in else []
        stamps = self._files.put_all({Files.LISTENERS: listeners, **before.above(), **before.beneath()})
        if self._lets_in:
            with suppress(PenstockError):  # told by the error that led here
                await self._taken.follow(stamps)

    async def _tell(self, files: Mapping[str, list[Any]]) -> None:
        """Returns when Envoy has taken the files."""
        await self._taken.follow(await asyncio.to_thread(self._files.put_all, files))

    def _prepare(self) -> None:
        """Writes what Envoy starts with: nobody is let in yet."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._in_force = configuration_of(GatewayTable(), {}, self._outbound)
        start = bootstrap(
            self._folder, connections=self._settings.connections, memory_mebibytes=self._settings.memory_mebibytes
        )
        write_private(self._folder / _BOOTSTRAP, msgspec.json.encode(start))
        self._files.put_all({Files.LISTENERS: [], **self._in_force.beneath(), **self._in_force.above()})
        if self._place.certificate is not None and self._place.key is not None:
            self._files.put(Files.CERTIFICATE, [certificate_secret(self._place.certificate, self._place.key)])

    def _listener(self) -> Json:
        return listener(
            self._place.host,
            self._place.port,
            folder=self._folder,
            access_log=self.access_log,
            tls=self._place.certificate is not None,
            trusted_proxies=self._settings.trusted_proxies,
        )
