"""The connection to one kernel: requests, their replies, and what the kernel publishes meanwhile."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import structlog
import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.connect import KernelConnectionInfo

from penstock.kernel.errors import PenstockError

_log = structlog.get_logger(__name__)

Message = dict[str, Any]
Listener = Callable[[str, Message], None]
_MOST_WAITING = 8  # messages
_RETRY_MILLISECONDS = 5


class KernelLost(PenstockError):
    """The kernel ended, or speaks what nobody understands."""

    code = "kernel-lost"
    title = "The kernel ended"


class _Client(AsyncKernelClient):
    """Takes no larger messages, and no more at once, than the engine can hold for many kernels."""

    most_message = 0

    def _create_connected_socket(self, channel: str, identity: bytes | None = None) -> Any:
        kind = {"shell": zmq.DEALER, "iopub": zmq.SUB, "control": zmq.DEALER}[channel]
        socket = self.context.socket(kind)
        socket.linger = 0
        socket.setsockopt(zmq.MAXMSGSIZE, self.most_message)
        socket.setsockopt(zmq.RCVHWM, _MOST_WAITING)
        socket.setsockopt(zmq.RECONNECT_IVL, _RETRY_MILLISECONDS)  # until the kernel listens
        if identity:
            socket.identity = identity
        socket.connect(self._make_url(channel))
        return socket


class Channels:
    """Within `run`, messages are read; replies find their requests, published messages the listener.

    lost: done once the kernel cannot be talked to any more, with the reason.
    """

    def __init__(self, context: zmq.asyncio.Context, connection: dict[str, Any], most_message: int) -> None:
        """most_message: bytes of the largest message; a kernel that sends a larger one is not heard any more."""
        self._client = _Client(context=context)
        self._client.most_message = most_message
        self._client.load_connection_info(cast(KernelConnectionInfo, connection))
        self._session = self._client.session
        self._sockets = {
            "shell": self._client.connect_shell(identity=self._session.bsession),
            "control": self._client.connect_control(identity=self._session.bsession),
            "iopub": self._client.connect_iopub(),
        }
        self._replies: dict[str, asyncio.Future[Message]] = {}
        self._listeners: dict[str, Listener] = {}
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._readers = [asyncio.create_task(self._read(name), name=f"kernel channel {name}") for name in self._sockets]

    async def ask(
        self,
        kind: str,
        content: Message,
        channel: str = "shell",
        listener: Listener | None = None,
        until: "asyncio.Future[Any] | None" = None,
    ) -> Message:
        """Sends a request; the content of its reply. Raises KernelLost.

        listener: gets type and content of each message published for the request, as long as this waits: for the
        reply, and for `until`.
        """
        message = self._session.msg(kind, content)
        id = message["header"]["msg_id"]
        reply = self._replies[id] = asyncio.get_running_loop().create_future()
        if listener is not None:
            self._listeners[id] = listener
        try:
            self._session.send(self._sockets[channel], message)
            wanted: asyncio.Future[Any] | None
            for wanted in (reply, until):
                if wanted is not None:
                    await asyncio.wait((wanted, self.lost), return_when=asyncio.FIRST_COMPLETED)
                    if not wanted.done():
                        raise KernelLost(self.lost.result())
            replied: Message = reply.result()
            return replied
        finally:
            self._replies.pop(id, None)
            self._listeners.pop(id, None)

    def fail(self, reason: str) -> None:
        """Ends all waiting, now and later."""
        if not self.lost.done():
            self.lost.set_result(reason)

    async def close(self) -> None:
        self.fail("the kernel was ended")
        for reader in self._readers:
            reader.cancel()
        await asyncio.wait(self._readers)
        for socket in self._sockets.values():
            socket.close(linger=0)

    async def _read(self, channel: str) -> None:
        socket = self._sockets[channel]
        while True:
            parts: list[bytes] = await socket.recv_multipart()  # type: ignore[misc]
            try:
                _, signed = self._session.feed_identities(parts)
                message = self._session.deserialize(signed)
                self._take(channel, message)
            except Exception as error:  # noqa: BLE001 - the code that runs there can send anything
                _log.warning("kernel sends what is no message", channel=channel, reason=str(error))
                self.fail("the kernel sent messages that cannot be understood")
                return

    def _take(self, channel: str, message: Message) -> None:
        id = message["parent_header"].get("msg_id")
        if channel == "iopub":
            listener = self._listeners.get(id)
            if listener is not None:
                content = message["content"]
                if message["metadata"].get("penstock_cut"):
                    content = {**content, "cut": True}
                listener(message["msg_type"], content)
            return
        reply = self._replies.get(id)
        if reply is not None and not reply.done():
            reply.set_result(message["content"])
