"""A connection to an AMQP 1.0 peer with one session and one link, on which messages are sent."""

import asyncio
import contextlib
import struct
from collections.abc import Awaitable, Callable
from typing import Any, Self

from penstock.connectors.amqp.address import AmqpAddress
from penstock.connectors.amqp.decoding import Described, Malformed
from penstock.connectors.amqp.encoding import (
    NULL,
    binary,
    boolean,
    described,
    list_of,
    string,
    symbol,
    ubyte,
    uint,
    ushort,
)
from penstock.connectors.amqp.frame import EMPTY, HEADER, LARGEST, SASL_HEADER, Frame, Performative, frame, read_frame
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.ids import new_id

_IDLE_SECONDS = 60.0
_WINDOW = 2**31 - 1
_WRAP = 2**32 - 1
_TRANSFER_BYTES = 64  # what a transfer takes beside its part of the message, at most
_ACCEPTED, _REJECTED = 0x24, 0x25
_SOURCE, _TARGET = 0x28, 0x29


class AmqpFailed(Exception):
    """The connection cannot be made, is lost, or the peer ended it; the text says why."""


class AmqpRejected(Exception):
    """The peer refuses the message; the text says why."""


class AmqpConnection:
    """Opened by `open`, ended by `close`; `failure` is set once it is of no more use."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.failure: str | None = None
        self._reader = reader
        self._writer = writer
        self._changed = asyncio.Condition()
        self._sending = asyncio.Lock()
        self._credit = 0  # deliveries that the link may send
        self._window = 1  # frames that the session may send
        self._next_delivery = 0
        self._next_frame = 0
        self._unsettled: dict[int, asyncio.Future[None]] = {}
        self._largest = 512
        self._beat = _IDLE_SECONDS / 2
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    async def open(cls, address: AmqpAddress, queue: str, guard: AddressGuard) -> Self:
        """Logs in and attaches a sending link to the queue. Raises AmqpFailed, AddressRefused."""
        try:
            host = (await guard.resolve(address.host))[0]
            tls = address.tls_context()
            reader, writer = await asyncio.open_connection(
                host, address.port, ssl=tls, server_hostname=address.host if tls else None
            )
        except OSError as error:
            raise AmqpFailed(f"{address.host} cannot be reached: {error.strerror or type(error).__name__}") from None
        connection = cls(reader, writer)
        try:
            await connection._begin(address, queue)
        except BaseException:
            await connection.close()
            raise
        return connection

    async def close(self) -> None:
        """Says goodbye if that is possible, and ends the connection."""
        if self.failure is None:
            self._write(frame(Performative.CLOSE, []))
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._fail("the connection is closed")
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def send(self, message: bytes) -> None:
        """Returns once the peer has accepted the message. Raises AmqpFailed, AmqpRejected."""
        async with self._sending:
            await self._until(lambda: self._credit > 0)
            self._credit -= 1
            delivery, self._next_delivery = self._next_delivery, self._next_delivery + 1
            settled = self._unsettled[delivery] = asyncio.get_running_loop().create_future()
            try:
                await self._transfer(delivery, message)
            except BaseException:
                await self._fail("a message broke off")  # the peer waits for the rest of it
                raise
        try:
            await settled
        finally:
            del self._unsettled[delivery]

    async def _transfer(self, delivery: int, message: bytes) -> None:
        """One delivery, in as many frames as it takes."""
        tag = binary(struct.pack(">I", delivery & _WRAP))
        room = self._largest - _TRANSFER_BYTES
        for start in range(0, len(message), room):
            await self._until(lambda: self._window > 0)
            self._window -= 1
            self._next_frame += 1
            more = boolean(start + room < len(message))
            fields = [uint(0), uint(delivery & _WRAP), tag, uint(0), boolean(False), more]
            self._write(frame(Performative.TRANSFER, fields, message[start : start + room]))
            await self._drain()

    async def _until(self, condition: Callable[[], bool]) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: condition() or self.failure is not None)
        if self.failure is not None:
            raise AmqpFailed(self.failure)

    async def _begin(self, address: AmqpAddress, queue: str) -> None:
        try:
            await self._log_in(address)
            await self._greet(HEADER)
            name = f"penstock-{new_id().hex}"
            idle = int(_IDLE_SECONDS * 1000)
            self._write(
                frame(Performative.OPEN, [string(name), string(address.host), uint(LARGEST), ushort(0), uint(idle)])
            )
            opened = await self._expect(Performative.OPEN)
            self._largest = max(512, min(opened.field(2, LARGEST), LARGEST))
            self._beat = min(_IDLE_SECONDS, opened.field(4, int(_IDLE_SECONDS * 1000)) / 1000) / 2
            self._write(frame(Performative.BEGIN, [NULL, uint(0), uint(_WINDOW), uint(_WINDOW)]))
            self._window = (await self._expect(Performative.BEGIN)).field(2, 1)
            self._write(frame(Performative.ATTACH, _attach_fields(name, queue)))
            attached = await self._expect(Performative.ATTACH)
            if attached.field(6) is None:  # no target: the peer refuses the link, and says why when it detaches
                await self._expect(Performative.FLOW)
        except (asyncio.IncompleteReadError, OSError, Malformed) as error:
            raise AmqpFailed(f"{address.host} broke the connection off: {type(error).__name__}") from None
        self._tasks = [asyncio.create_task(self._supervised(work)) for work in (self._read, self._live)]

    async def _log_in(self, address: AmqpAddress) -> None:
        await self._greet(SASL_HEADER)
        offered = (await self._expect(Performative.SASL_MECHANISMS)).field(0, [])
        mechanism = "PLAIN" if address.user else "ANONYMOUS"
        if mechanism not in ([offered] if isinstance(offered, str) else offered):
            raise AmqpFailed(f"{address.host} does not let anybody log in by {mechanism}")
        response = f"\0{address.user}\0{address.password}" if address.user else "penstock"
        self._write(frame(Performative.SASL_INIT, [symbol(mechanism), binary(response.encode()), string(address.host)]))
        if (await self._expect(Performative.SASL_OUTCOME)).field(0) != 0:
            raise AmqpFailed(f"{address.host} refuses the credentials")

    async def _greet(self, header: bytes) -> None:
        self._write(header)
        if await self._reader.readexactly(len(header)) != header:
            raise AmqpFailed("the peer speaks another protocol than AMQP 1.0")

    async def _expect(self, wanted: Performative) -> Frame:
        found = await read_frame(self._reader)
        while found is None:
            found = await read_frame(self._reader)
        if found.performative is not wanted:
            raise AmqpFailed(_reason(found) or f"the peer answers {found.performative.name}, not {wanted.name}")
        return found

    async def _read(self) -> None:
        while True:
            async with asyncio.timeout(2 * _IDLE_SECONDS):
                found = await read_frame(self._reader)
            if found is not None:
                await self._take(found)

    async def _take(self, found: Frame) -> None:
        match found.performative:
            case Performative.FLOW:
                await self._grant(found)
            case Performative.DISPOSITION:
                self._settle(found)
            case Performative.DETACH | Performative.END | Performative.CLOSE:
                raise AmqpFailed(_reason(found) or "the peer ended the link")
            case _:
                return

    async def _grant(self, flow: Frame) -> None:
        """Takes what the peer grants: frames for the session, deliveries for the link."""
        async with self._changed:
            self._window = _left(flow.field(0, 0) + flow.field(1, 0), self._next_frame)
            if flow.field(4) is not None:
                self._credit = _left(flow.field(5, 0) + flow.field(6, 0), self._next_delivery)
            self._changed.notify_all()

    def _settle(self, disposition: Frame) -> None:
        first = disposition.field(1, 0)
        for delivery in range(first, disposition.field(2, first) + 1):
            settled = self._unsettled.get(delivery)
            if settled is not None and not settled.done():
                _conclude(settled, disposition.field(4))

    async def _live(self) -> None:
        while True:
            await asyncio.sleep(self._beat)
            self._write(EMPTY)
            await self._drain()

    async def _supervised(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except AmqpFailed as error:
            await self._fail(str(error))
        except (asyncio.IncompleteReadError, OSError, Malformed) as error:
            await self._fail(f"the connection is lost: {type(error).__name__}")

    async def _fail(self, reason: str) -> None:
        self.failure = self.failure or reason
        for settled in self._unsettled.values():
            if not settled.done():
                settled.set_exception(AmqpFailed(self.failure))
        async with self._changed:
            self._changed.notify_all()

    def _write(self, data: bytes) -> None:
        self._writer.write(data)

    async def _drain(self) -> None:
        try:
            await self._writer.drain()
        except OSError as error:
            raise AmqpFailed(f"the connection is lost: {type(error).__name__}") from None


def _left(granted: int, used: int) -> int:
    """How many of the numbers granted are not used yet; they begin again after 2^32."""
    left = (granted - used) & _WRAP
    return left if left < _WINDOW else 0


def _attach_fields(name: str, queue: str) -> list[bytes]:
    sender, unsettled, first = boolean(False), ubyte(0), ubyte(0)
    source = described(_SOURCE, list_of([string(name)]))
    target = described(_TARGET, list_of([string(queue)]))
    return [string(name), uint(0), sender, unsettled, first, source, target, NULL, NULL, uint(0)]


def _conclude(settled: asyncio.Future[None], state: Any) -> None:
    code = state.code if isinstance(state, Described) else _ACCEPTED
    if code == _ACCEPTED:
        settled.set_result(None)
    elif code == _REJECTED:
        error = state.value[0] if state.value else None
        settled.set_exception(AmqpRejected(_error_text(error) or "the message is rejected"))
    else:
        settled.set_exception(AmqpFailed("the peer gave the message back"))


def _reason(found: Frame) -> str:
    """The error in a DETACH, END or CLOSE."""
    position = 2 if found.performative is Performative.DETACH else 0
    ends = (Performative.DETACH, Performative.END, Performative.CLOSE)
    return _error_text(found.field(position)) if found.performative in ends else ""


def _error_text(error: Any) -> str:
    if not isinstance(error, Described) or not isinstance(error.value, list):
        return ""
    return ": ".join(str(part) for part in error.value[:2] if part)
