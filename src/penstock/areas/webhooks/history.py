"""The requests that webhooks received, kept on a stream for each webhook."""

from uuid import UUID

from penstock.areas.webhooks.model import WebhookRequestMessage
from penstock.areas.webhooks.request import body_of, is_binary
from penstock.areas.webhooks.streams import stream_of, subject_of
from penstock.bus.bus import Bus
from penstock.bus.message import StoredMessage
from penstock.bus.reader import StreamReader
from penstock.bus.streams import Streams
from penstock.kernel.errors import NotFound
from penstock.kernel.wire import encode
from penstock.resource.answer import Encoded
from penstock.resource.page import MOST
from penstock.store.body import decode

_BINARY = "Penstock-Body"
_BASE64 = "base64"
_PAGE = 100
_MOST_BYTES = 32 * 1024 * 1024


class WebhookHistory:
    """webhook: the name, in the writing in which the webhook was made."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._reader = StreamReader(bus)

    async def record(self, webhook: str, message: WebhookRequestMessage, body: bytes) -> None:
        """Returns when the message is on disk. Raises Unavailable."""
        headers = {_BINARY: _BASE64} if is_binary(body) else {}
        id = message.id or ""
        await self._bus.publish(subject_of(webhook, id), encode(message), headers=headers, message_id=id)

    async def newest(self, webhook: str) -> Encoded[list[WebhookRequestMessage]]:
        """The newest messages, newest first: at most 1,000 and 32 MiB, and always one."""
        found: list[bytes] = []
        left = _MOST_BYTES
        while len(found) < MOST:
            page = await self._reader.newest(stream_of(webhook), skip=len(found), count=_PAGE)
            for stored in page:
                left -= len(stored.data)
                if left < 0 and found:
                    return Encoded.array(found)
                found.append(stored.data)
            if len(page) < _PAGE:
                break
        return Encoded.array(found)

    async def find(self, webhook: str, id: str) -> tuple[WebhookRequestMessage, bytes]:
        """A message, and its body byte for byte. Raises NotFound."""
        stored = await self._stored(webhook, id)
        message = decode(stored.data, WebhookRequestMessage)
        return message, body_of(message, binary=stored.headers.get(_BINARY) == _BASE64)

    async def clear(self, webhook: str) -> None:
        """Deletes all messages."""
        await Streams(self._bus).purge(stream_of(webhook))

    async def _stored(self, webhook: str, id: str) -> StoredMessage:
        try:
            subject = subject_of(webhook, str(UUID(id)))
        except ValueError:
            raise NotFound.of("message", id) from None
        found = await self._reader.newest(stream_of(webhook), subject=subject, count=1)
        if not found:
            raise NotFound.of("message", id)
        return found[0]
