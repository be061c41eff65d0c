"""What the agent needs to reach the bus: asked for over HTTP, renewed before it expires, kept for a restart."""

import asyncio
from datetime import datetime, timedelta
from hashlib import blake2b
from uuid import UUID

import structlog

from penstock.agent.folder import AgentFolder
from penstock.agent.identity import Identity
from penstock.agent.link import Deprecated, Link, Refused
from penstock.bus.credentials import UserCredential
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid, Unavailable, UnusableFile
from penstock.kernel.validation import decode_json
from penstock.kernel.wire import encode
from penstock.protocol.registration import AgentConfiguration

_FILE = "configuration.json"
_PING_SECONDS = 10.0
_RESYNC_SECONDS = 60.0
_AWAY = timedelta(seconds=5)  # the bus away for this long may have another address now
_PAUSE = timedelta(seconds=10)
_log = structlog.get_logger(__name__)


class Access:
    """The agent's configuration as last heard. `refresh` must have succeeded before the rest is used.

    deprecated: the servers said that the agent gets no work any more.
    """

    def __init__(self, identity: Identity, folder: AgentFolder, link: Link, clock: Clock) -> None:
        self._identity = identity
        self._folder = folder
        self._link = link
        self._clock = clock
        self._known: AgentConfiguration | None = None
        self._renew_at = clock.now()
        self._away_since: datetime | None = None
        self.deprecated = False

    @property
    def agent_id(self) -> UUID:
        return self._identity.agent_id

    @property
    def servers(self) -> list[str]:
        return self._configuration.bus_servers

    @property
    def server_key(self) -> str:
        return self._configuration.server_key

    @property
    def ping_seconds(self) -> float:
        return self._known.ping_seconds if self._known is not None else _PING_SECONDS

    @property
    def resync_seconds(self) -> float:
        return self._known.resync_seconds if self._known is not None else _RESYNC_SECONDS

    def message_id(self, channel: str, number: int) -> str:
        """The same for the same report, also after a restart; no other agent can guess it and take its place."""
        key = self._identity.credential.encode()[:64]
        return blake2b(f"{channel} {number}".encode(), key=key, digest_size=16).hexdigest()

    async def credential(self) -> UserCredential:
        """The credential for the bus, a new one when it has expired. Raises Unavailable."""
        if self._configuration.bus_expires <= self._clock.now():
            await self._renew()
        return UserCredential(self._configuration.bus_jwt, self._configuration.bus_seed)

    async def refresh(self) -> None:
        """Asks the server anew; what was heard before does while the server is away. Raises Unavailable."""
        try:
            await self._renew()
        except Unavailable as error:
            if self.deprecated:
                raise
            kept = self._known or await asyncio.to_thread(self._kept)
            if kept is None or kept.bus_expires <= self._clock.now():
                raise
            _log.warning("the server is away, its last configuration is used", reason=str(error))
            self._known = kept

    async def see_to(self, *, connected: bool) -> None:
        """Renews the credential when it is time, and asks again while the bus is away. Failing is no harm yet."""
        now = self._clock.now()
        if connected:
            self._away_since = None
        elif self._away_since is None:
            self._away_since = now
        if now < self._renew_at and (self._away_since is None or now < self._away_since + _AWAY):
            return
        self._away_since = None
        try:
            await self._renew()
        except Unavailable as error:
            _log.warning("the configuration cannot be renewed yet", reason=str(error))
            self._renew_at = now + _PAUSE

    @property
    def _configuration(self) -> AgentConfiguration:
        if self._known is None:
            raise Unavailable("The agent has no configuration yet")
        return self._known

    async def _renew(self) -> None:
        try:
            known = await self._link.configuration(self._identity.credential)
        except Deprecated as error:
            self.deprecated = True
            raise Unavailable(str(error)) from None
        except Refused as error:
            # Nothing but a new registration helps, but what runs here must not stop for a server's mistake.
            _log.error("the server refuses this agent's credential", reason=str(error))
            raise Unavailable(str(error)) from None
        now = self._clock.now()
        self.deprecated = False
        self._known = known
        self._renew_at = now + max((known.bus_expires - now) * 2 / 3, _PAUSE)
        try:
            await asyncio.to_thread(self._folder.write, _FILE, encode(known))
        except UnusableFile as error:  # it is missed only by a start without the servers
            _log.warning("the configuration cannot be kept", reason=str(error))

    def _kept(self) -> AgentConfiguration | None:
        content = self._folder.read(_FILE)
        if content is None:
            return None
        try:
            kept: AgentConfiguration = decode_json(content, AgentConfiguration)
        except Invalid as error:
            _log.warning("the kept configuration cannot be read", reason=str(error))
            return None
        return kept
