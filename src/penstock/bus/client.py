"""The NATS library's client with what it lacks against hostile messages and dead peers, and quicker."""

import asyncio
from collections.abc import Callable
from typing import Any

import structlog
from nats.aio.client import PING_PROTO, Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.aio.transport import TcpTransport

_log = structlog.get_logger(__name__)


class NatsClient(Client):
    """Reads on after messages that are not UTF-8 and flushes that were cancelled; pings in order; can be aborted."""

    def __init__(self, on_end: Callable[[], None]) -> None:
        """on_end: called as soon as the connection ends, for whatever reason; maybe more than once."""
        super().__init__()
        self._on_end = on_end
        self._receivers: dict[int, Callable[[Msg], None]] = {}

    async def listen(self, subject: str, receive: Callable[[Msg], None]) -> Subscription:
        """A subscription whose messages are handed over while they are read, without a queue and a task between.

        receive: must be quick.
        """

        async def receive_early(message: Msg) -> None:
            receive(message)

        subscription = await self.subscribe(subject, cb=receive_early, pending_bytes_limit=0)
        self._receivers[subscription._id] = receive
        return subscription

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        receive = self._receivers.get(sid)
        if receive is None:
            await super()._process_msg(sid, subject, reply, data, headers)
            return
        self.stats["in_msgs"] += 1
        self.stats["in_bytes"] += len(data)
        message = self._build_message(sid, subject, reply, data, await self._process_headers(headers))
        try:
            receive(message)
        except Exception as error:  # noqa: BLE001 - as the library does: the connection must read on
            await self._error_cb(error)

    def _remove_sub(self, sid: int, max_msgs: int = 0) -> None:
        self._receivers.pop(sid, None)
        super()._remove_sub(sid, max_msgs)

    def abort(self) -> None:
        """Drops the connection with all that is buffered; `close` would wait for a peer that is gone."""
        self._drop_buffer()
        if isinstance(self._transport, TcpTransport) and self._transport._bare_io_writer is not None:
            self._transport._bare_io_writer.transport.abort()

    async def _close(self, status: int, do_cbs: bool = True) -> None:
        # The library first writes what is buffered; with the peer gone that raises, and nobody is told of the end.
        self._drop_buffer()
        self._on_end()
        await super()._close(status, do_cbs)

    def _drop_buffer(self) -> None:
        self._pending.clear()
        self._pending_data_size = 0

    async def ping(self) -> asyncio.Future[bool]:
        """Sends a ping; the future is done when the server has read all that was sent before it."""
        pong: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        await self._send_ping(pong)
        return pong

    async def _send_ping(self, future: asyncio.Future[bool] | None = None) -> None:
        # Behind what is buffered. The library's own ping overtakes it, so that a flush would prove nothing.
        self._pongs.append(future or asyncio.get_running_loop().create_future())
        await self._send_command(PING_PROTO)
        await self._flush_pending()

    async def _process_pong(self) -> None:
        # A flush that was cancelled leaves a future that the library's reader would break at.
        if self._pongs and self._pongs[0].done():
            self._pongs[0] = asyncio.get_running_loop().create_future()
        await super()._process_pong()

    def _build_message(
        self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: dict[str, str] | None
    ) -> Msg:
        return Msg(
            _client=self,
            subject=subject.decode(errors="replace"),
            reply=reply.decode(errors="replace"),
            data=data,
            headers=headers,
            _sid=sid,
        )

    async def _process_headers(self, headers: Any) -> dict[str, str] | None:
        try:
            return await super()._process_headers(headers)
        except (UnicodeDecodeError, IndexError):
            _log.warning("bus message with damaged headers", bytes=len(headers))
            return None

    @staticmethod
    def _parse_header_lines(raw: bytes) -> dict[str, str]:
        # The library looks at every character of every name, which costs more than all the rest of a message.
        headers: dict[str, str] = {}
        for line in raw.split(b"\r\n"):
            name, colon, value = line.partition(b":")
            words = name.split()
            if colon and len(words) == 1 and words[0].isascii():
                headers[words[0].decode()] = value.strip().decode("utf-8", "replace")
        return headers
