"""The agent's connection to the bus: outward only, with a credential of its own that is renewed in time."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import structlog

from penstock.agent.access import Access
from penstock.agent.batches import Batch
from penstock.bus.bus import Bus
from penstock.bus.message import Received
from penstock.bus.session import Session
from penstock.kernel.errors import PenstockError, Unavailable
from penstock.kernel.ids import new_id
from penstock.kernel.validation import decode_json
from penstock.kernel.wire import Wire, encode
from penstock.protocol import signature, subjects
from penstock.protocol.status import AgentStatusPing

A = TypeVar("A", bound=Wire)
Changed = Callable[[list[str]], None]
"""Takes the names of the work that changed; an empty list when all of it may have."""

_ASK_SECONDS = 10.0
_PUBLISH_SECONDS = 5.0
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_LOOK_SECONDS = 0.5
_MOST_NAMES = 1000
_log = structlog.get_logger(__name__)


class Forged(PenstockError):
    """An answer on the bus does not carry the servers' signature."""

    code = "forged"
    title = "The answer is not signed by the servers"


class Uplink:
    """`serve` keeps it up, as a task. The other methods may be called at any time."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._agent = access.agent_id
        self._on_changed: Changed = lambda names: None
        self._on_assigned: Callable[[str], None] = lambda kind: None
        self._bus: Bus | None = None
        self._up = asyncio.Event()

    async def serve(self, on_changed: Changed, on_assigned: Callable[[str], None]) -> None:
        """Connects, again and again, until cancelled.

        on_changed: called when the servers say that work changed, and after each connect.
        on_assigned: called with the kind of assigned work that they say may have changed.
        """
        self._on_changed = on_changed
        self._on_assigned = on_assigned
        pause = _FIRST_PAUSE
        while True:
            try:
                await self._access.refresh()
                await self._connected()
                pause = _FIRST_PAUSE
            except PenstockError as error:
                _log.warning("the bus cannot be reached, trying again", reason=str(error))
                if self._access.deprecated:
                    on_changed([])
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    async def ask(self, what: str, query: Wire, answer: type[A], timeout: float = _ASK_SECONDS) -> A:
        """Asks the servers. Raises what they raise, Unavailable when they are away, Forged."""
        if self._bus is None or not self._bus.connected:
            raise Unavailable("The servers are away")
        subject = subjects.ask(self._agent, what)
        nonce = new_id().hex
        received = await self._bus.request(subject, encode(query), headers={signature.NONCE: nonce}, timeout=timeout)
        self._check(received, signature.challenge(subject, nonce))
        value: A = decode_json(received.data, answer)
        return value

    async def report(self, batch: Batch) -> None:
        """Returns when the servers' stream has the report. Waits for the bus while it was never reached."""
        await self._up.wait()
        if self._bus is None:
            raise Unavailable("The bus is away")
        await self._bus.publish(
            subjects.report(self._agent, batch.channel),
            batch.body,
            message_id=self._access.message_id(batch.channel, batch.number),
            timeout=_PUBLISH_SECONDS,
        )

    async def ping(self, status: AgentStatusPing) -> None:
        """Tells whoever listens; dropped while the bus is away."""
        if self._bus is not None:
            await self._bus.notify(subjects.ping(self._agent), encode(status))

    async def _connected(self) -> None:
        """Returns when the connection should be made anew: the bus has another address."""
        servers = self._access.servers
        async with await Bus.connect(
            servers,
            self._access.credential,
            name=f"penstock-agent {self._agent}",
            inbox_prefix=subjects.inbox(self._agent),
        ) as bus:
            await bus.subscribe(subjects.assigned(self._agent, "*"), self._told)
            self._bus = bus
            self._up.set()
            _log.info("connected to the bus", servers=servers)
            try:
                await self._watch(bus)
            finally:
                self._bus = None
                self._up.clear()

    async def _watch(self, bus: Bus) -> None:
        """Sees to the credential, and to what was said while the connection was away."""
        servers = self._access.servers
        session: Session | None = None
        while self._access.servers == servers:
            if bus.connected:
                current = await bus.session()
                if current is not session:
                    self._on_changed([])
                session = current
            await self._access.see_to(connected=bus.connected)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _told(self, notice: Received) -> None:
        # The bus hands over what the credential allows; a notice to anyone else is nothing to act on.
        kind = subjects.kind_of(notice.subject)
        if notice.subject == subjects.changed(self._agent):
            names = notice.data.decode(errors="replace").split("\n") if notice.data else []
            self._on_changed(names if len(names) <= _MOST_NAMES else [])
        elif notice.subject == subjects.assigned(self._agent, kind):
            self._on_assigned(kind)

    def _check(self, received: Received, challenge: str) -> None:
        given = received.headers.get(signature.HEADER, "")
        if not signature.verified(self._access.server_key, challenge, received.data, given):
            _log.error("an answer on the bus is not signed by the servers", subject=received.subject)
            raise Forged()
