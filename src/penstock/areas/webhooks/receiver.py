"""Taking requests in, and handling them again."""

import msgspec
import structlog

from penstock.areas.webhooks.authentication import check
from penstock.areas.webhooks.event import event_of
from penstock.areas.webhooks.history import WebhookHistory
from penstock.areas.webhooks.model import (
    WEBHOOKS,
    AuthenticationType,
    Webhook,
    WebhookReceipt,
    WebhookRequestMessage,
)
from penstock.areas.webhooks.request import WebhookRequest
from penstock.areas.webhooks.service import WebhookService
from penstock.connectors.standard_webhooks import ID
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound, Unauthenticated, Unavailable
from penstock.kernel.ids import new_id
from penstock.resource.audit import audit
from penstock.resource.ports.event_publisher import EventPublisher
from penstock.store.store import Store

log = structlog.get_logger(__name__)


class WebhookReceiver:
    """A request is recorded, then published, and only then accepted: what fails in between its sender repeats."""

    def __init__(
        self, webhooks: WebhookService, history: WebhookHistory, publisher: EventPublisher, store: Store, clock: Clock
    ) -> None:
        self._webhooks = webhooks
        self._history = history
        self._publisher = publisher
        self._store = store
        self._clock = clock

    async def receive(self, name: str, request: WebhookRequest) -> WebhookReceipt:
        """Returns when request and event are on disk.

        Raises NotFound, Unauthenticated, Unavailable, and Invalid for data that the event's definition refuses.
        """
        webhook = await self._webhooks.named(name)
        await self._check(webhook, request)
        id = str(new_id())
        message = request.message(id, self._clock.now(), webhook.authentication)
        await self._history.record(webhook.name, message, request.body)
        await self._publish(webhook, message, request.body, _event_id(webhook, request) or id)
        return WebhookReceipt(id=id)

    async def rehandle(self, name: str, message_id: str, actor: Actor) -> None:
        """Records a copy of a message and publishes it as a new event. Raises NotFound."""
        webhook = await self._webhooks.named(name)
        original, body = await self._history.find(webhook.name, message_id)
        id, now = str(new_id()), self._clock.now()
        copy = msgspec.structs.replace(
            original, id=id, timestamp=now, is_rehandled=True, original_message_id=original.id
        )
        await self._history.record(webhook.name, copy, body)
        await self._publish(webhook, copy, body, id)
        await self._audit("rehandled", webhook, actor, {"MessageId": id, "OriginalMessageId": original.id})

    async def clear(self, name: str, actor: Actor) -> None:
        """Deletes what a webhook has recorded. Raises NotFound."""
        webhook = await self._webhooks.named(name)
        await self._history.clear(webhook.name)
        await self._audit("cleared", webhook, actor, None)

    async def _check(self, webhook: Webhook, request: WebhookRequest) -> None:
        try:
            check(webhook.authentication, await self._webhooks.usable_secrets(webhook), request, self._clock.now())
        except Unauthenticated as error:
            log.info("webhook request refused", webhook=webhook.name, reason=error.detail)
            raise
        except ValueError:
            # The value of a variable; what the kind takes is usable.
            raise Unavailable(f"a secret of the webhook '{webhook.name}' cannot be used") from None

    async def _publish(self, webhook: Webhook, message: WebhookRequestMessage, body: bytes, event_id: str) -> None:
        event = event_of(webhook, message, body, event_id)
        try:
            await self._publisher.publish([event], channels=webhook.channels or None)
        except NotFound as error:
            # Not the sender's fault: the sender shall try again while the channel is missing.
            raise Unavailable(f"the webhook '{webhook.name}' publishes to what is not there: {error.detail}") from None

    async def _audit(self, act: str, webhook: Webhook, actor: Actor, after: object) -> None:
        entry = audit(
            act, WEBHOOKS.name, webhook.key, actor=actor, at=self._clock.now(), subject=webhook.name, after=after
        )
        await self._store.commit([entry])


def _event_id(webhook: Webhook, request: WebhookRequest) -> str | None:
    """What the sender calls the message; a request that is sent again is the same event then."""
    if webhook.authentication.type is not AuthenticationType.STANDARD:
        return None  # nobody has vouched for it
    given = request.headers[ID]
    return given if given.isascii() and given.isprintable() and len(given) <= _LONGEST_ID else None


_LONGEST_ID = 256
