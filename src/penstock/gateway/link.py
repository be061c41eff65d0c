"""A gateway's connection to the bus: outward only, made again whenever it is lost."""

import asyncio
import zlib
from collections.abc import Callable

import structlog

from penstock.bus.bus import Bus
from penstock.bus.credentials import gateway_inbox
from penstock.bus.message import Received
from penstock.bus.session import Session
from penstock.gateway.access import AccessSource, BusAccess
from penstock.kernel.errors import PenstockError, Unavailable
from penstock.kernel.validation import decode_json
from penstock.kernel.wire import Wire, encode
from penstock.protocol import subjects
from penstock.protocol.gateway import TablePart, TableQuestion

_ASK_SECONDS = 5.0
_PUBLISH_SECONDS = 5.0
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
_LOOK_SECONDS = 0.5
_log = structlog.get_logger(__name__)


class Link:
    """`serve` keeps it up, as a task. The other methods may be called at any time."""

    def __init__(self, source: AccessSource, gateway: str) -> None:
        self._source = source
        self._gateway = gateway
        self._bus: Bus | None = None

    @property
    def connected(self) -> bool:
        return self._bus is not None and self._bus.connected

    async def serve(self, on_changed: Callable[[], None]) -> None:
        """Connects, again and again, until cancelled.

        on_changed: called when the servers say that the table changed, and after each connect.
        """
        pause = _FIRST_PAUSE
        while True:
            try:
                await self._connected(self._source.read(), on_changed)
                pause = _FIRST_PAUSE
            except PenstockError as error:
                _log.warning("the bus cannot be reached, trying again", reason=error.detail)
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    async def table(self, known: str | None) -> tuple[str, bytes] | None:
        """The stamp and the JSON of the servers' table; None when it is the known one.

        Raises what the servers raise, Unavailable when they are away or the table changes while it is told.
        """
        first = await self._ask_part(TableQuestion(known=known))
        if not first.parts:
            return None
        pieces = [first.body]
        for number in range(1, first.parts):
            part = await self._ask_part(TableQuestion(known=known, part=number))
            if part.stamp != first.stamp:
                raise Unavailable("The table changed while it was told")
            pieces.append(part.body)
        try:
            return first.stamp, zlib.decompress(b"".join(pieces))
        except zlib.error as error:
            raise Unavailable(f"The table cannot be unpacked: {error}") from None

    async def report(self, kind: str, body: Wire, message_id: str | None = None) -> None:
        """Returns when the servers' stream has it. Raises Unavailable."""
        await self._connection().publish(
            subjects.gateway_report(self._gateway, kind), encode(body), message_id=message_id, timeout=_PUBLISH_SECONDS
        )

    async def tell(self, kind: str, body: Wire) -> None:
        """Tells what nobody needs to have; dropped while the bus is away."""
        if self._bus is not None:
            await self._bus.notify(subjects.gateway_report(self._gateway, kind), encode(body))

    async def _ask_part(self, question: TableQuestion) -> TablePart:
        subject = subjects.gateway_ask(self._gateway, subjects.TABLE)
        answer = await self._connection().request(subject, encode(question), timeout=_ASK_SECONDS)
        part: TablePart = decode_json(answer.data, TablePart)
        return part

    def _connection(self) -> Bus:
        if self._bus is None or not self._bus.connected:
            raise Unavailable("The bus is away")
        return self._bus

    async def _connected(self, access: BusAccess, on_changed: Callable[[], None]) -> None:
        """Returns when the connection should be made anew: the bus has another address, or we another credential."""

        async def noticed(_: Received) -> None:
            on_changed()

        async with await Bus.connect(
            access.servers,
            access.credential,
            name=f"penstock-gateway {self._gateway}",
            inbox_prefix=gateway_inbox(self._gateway),
        ) as bus:
            await bus.subscribe(subjects.GATEWAYS_CHANGED, noticed)
            self._bus = bus
            _log.info("connected to the bus", servers=access.servers)
            try:
                await self._watch(bus, access, on_changed)
            finally:
                self._bus = None

    async def _watch(self, bus: Bus, access: BusAccess, on_changed: Callable[[], None]) -> None:
        session: Session | None = None
        while self._source.read() == access:
            if bus.connected:
                current = await bus.session()
                if current is not session:
                    on_changed()  # what was said while the connection was away
                session = current
            await asyncio.sleep(_LOOK_SECONDS)
