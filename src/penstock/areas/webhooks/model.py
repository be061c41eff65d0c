"""Webhooks and the requests that they received."""

from datetime import datetime
from enum import StrEnum

from penstock.kernel.entity import Entity
from penstock.kernel.wire import Map, Wire
from penstock.store.definition import Collection, Column, ColumnType

EVENT_TYPE = "penstock.webhook.received"


class AuthenticationType(StrEnum):
    """How a webhook tells who may send.

    open: everybody may. secret: the request carries a secret. hmac: a header has the HMAC of the body.
    standard: the request is signed as Standard Webhooks specifies it.
    """

    OPEN = "open"
    SECRET = "secret"  # noqa: S105
    HMAC = "hmac"
    STANDARD = "standard"


class Algorithm(StrEnum):
    """The hash function of an HMAC."""

    SHA256 = "sha256"
    SHA512 = "sha512"
    SHA1 = "sha1"


class Encoding(StrEnum):
    """How the bytes of an HMAC are written."""

    HEX = "hex"
    BASE64 = "base64"


class EventData(StrEnum):
    """What the data of a webhook's events is. body: the request's body. request: the whole request, as an object."""

    BODY = "body"
    REQUEST = "request"


class WebhookAuthentication(Wire):
    """The check of a webhook. secrets: masked, except for references to variables; sealed beside the webhook."""

    type: AuthenticationType
    secrets: list[str] = []
    header: str | None = None
    query: str | None = None
    prefix: str = ""
    algorithm: Algorithm = Algorithm.SHA256
    encoding: Encoding = Encoding.HEX


class Webhook(Entity):
    """An address that takes requests and makes events of them.

    type_header: the header whose value is added to the event type. channels: where the events go; by subscription
    when there are none.
    """

    name: str
    description: str | None = None
    authentication: WebhookAuthentication
    event_type: str = EVENT_TYPE
    type_header: str | None = None
    data: EventData = EventData.BODY
    channels: list[str] = []

    @property
    def source(self) -> str:
        """The `source` of its events."""
        return f"/webhooks/{self.name}"

    def shown(self) -> "WebhookDto":
        """The webhook as the API answers it."""
        return WebhookDto(name=self.name, description=self.description)


class WebhookDto(Wire):
    """A webhook; its name is its id."""

    name: str | None = None
    description: str | None = None


class WebhookRequestMessage(Wire):
    """A request that a webhook received.

    Headers: names in lower case, values joined by commas where a header came more than once, secrets masked.
    Body: its text; what is no UTF-8 is a `data:` URL in base64. OriginalMessageId: of the one that was handled again.
    """

    id: str | None = None
    timestamp: datetime
    method: str | None = None
    path: str | None = None
    headers: Map | None = None
    query_string: str | None = None
    body: str | None = None
    content_type: str | None = None
    is_rehandled: bool = False
    original_message_id: str | None = None


class WebhookReceipt(Wire):
    """The answer to an accepted request. Id: of its message in the history."""

    id: str


WEBHOOKS: Collection[Webhook] = Collection(
    "webhooks", Webhook, (Column("name", lambda webhook: webhook.name, ColumnType.KEY, unique=True),)
)
