"""A connection that lasts: a new Session follows each one that is lost."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import structlog

from penstock.bus.credentials import UserCredential
from penstock.bus.session import Session, SessionLost
from penstock.bus.subscription import Subscription
from penstock.kernel.errors import Forbidden, Unavailable

_log = structlog.get_logger(__name__)
_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 5.0

CredentialSource = UserCredential | Callable[[], Awaitable[UserCredential]]
"""A credential, or what fetches one: it is asked before every connect, so an expired one is renewed."""


class Connection:
    """Keeps a Session open and puts the subscriptions back on each new one."""

    def __init__(
        self, servers: list[str], credential: CredentialSource, name: str, inbox_prefix: str, silence: float
    ) -> None:
        self._servers = servers
        self._credential = credential
        self._name = name
        self._inbox_prefix = inbox_prefix
        self._silence = silence
        self._session: Session | None = None
        self._arrived = asyncio.Event()
        self._subscriptions: set[Subscription] = set()
        self._keeper: asyncio.Task[None] | None = None

    @property
    def connected(self) -> bool:
        return self._session is not None

    async def open(self) -> None:
        """Raises Unavailable or Unauthenticated when the first attempt fails; later ones are repeated."""
        self._arrive(await self._connect())
        self._keeper = asyncio.create_task(self._keep(), name=f"bus connection {self._name}")

    async def close(self) -> None:
        """Lets the subscriptions finish what they have received, then disconnects."""
        async with asyncio.TaskGroup() as group:
            for subscription in list(self._subscriptions):
                group.create_task(self.unsubscribe(subscription))
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        if self._session is not None:
            await self._session.close()
            self._session = None
        self._arrived.clear()

    async def session(self, deadline: float) -> Session:
        """The open session; waits for one until `deadline` (loop time). Raises Unavailable."""
        if self._session is not None:
            return self._session
        try:
            async with asyncio.timeout_at(deadline):
                while self._session is None:
                    await self._arrived.wait()
        except TimeoutError:
            raise Unavailable("The bus is away") from None
        return self._session

    def current(self) -> Session | None:
        """The open session, if there is one."""
        return self._session

    async def subscribe(self, subscription: Subscription, deadline: float) -> None:
        """Keeps `subscription` alive until `unsubscribe`. Raises Forbidden, Unavailable."""
        while True:
            session = await self.session(deadline)
            try:
                await subscription.attach(session)
            except SessionLost:
                await asyncio.sleep(_FIRST_PAUSE)
            else:
                self._subscriptions.add(subscription)
                return

    async def unsubscribe(self, subscription: Subscription) -> None:
        self._subscriptions.discard(subscription)
        await subscription.detach()

    async def _keep(self) -> None:
        while self._session is not None:
            lost = self._session
            await lost.watch()
            self._session = None
            self._arrived.clear()
            _log.warning("bus connection lost", connection=self._name)
            await lost.close()
            self._arrive(await self._reconnect())
            _log.info("bus connection restored", connection=self._name)

    async def _reconnect(self) -> Session:
        pause = _FIRST_PAUSE
        while True:
            # Spread out: after a broker's restart all of its clients come back at once.
            await asyncio.sleep(random.uniform(pause / 2, pause))  # noqa: S311 - not a secret
            try:
                session = await self._connect()
                await self._restore(session)
                return session
            except Exception as error:  # noqa: BLE001 - whatever the credential source raises, we go on trying
                _log.warning("bus connection attempt failed", connection=self._name, error=str(error))
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _connect(self) -> Session:
        credential = self._credential
        if not isinstance(credential, UserCredential):
            credential = await credential()
        session = Session(self._name, self._inbox_prefix, self._silence)
        await session.open(self._servers, credential)
        return session

    async def _restore(self, session: Session) -> None:
        for subscription in list(self._subscriptions):
            try:
                await subscription.attach(session)
            except Forbidden:
                # The new credential allows less; the rest of the connection still works.
                _log.error("bus subscription no longer allowed", subject=subscription.subject)

    def _arrive(self, session: Session) -> None:
        self._session = session
        known = set(self._servers)
        found = (f"{uri.scheme}://{uri.netloc}" for uri in session.client.discovered_servers)
        self._servers = [*self._servers, *(server for server in found if server not in known)]
        self._arrived.set()
