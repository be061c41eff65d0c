"""The NATS library's client with what it lacks against hostile messages and dead peers."""

from typing import Any

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.transport import TcpTransport

_log = structlog.get_logger(__name__)


class NatsClient(Client):
    """Reads messages that are not UTF-8 (the library's reader stops for good), and can be aborted."""

    def abort(self) -> None:
        """Drops the connection with all that is buffered; `close` would wait for a peer that is gone."""
        self._pending.clear()
        self._pending_data_size = 0
        if isinstance(self._transport, TcpTransport) and self._transport._bare_io_writer is not None:
            self._transport._bare_io_writer.transport.abort()

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
