"""Operations on webhooks, and their addresses."""

from penstock.areas.webhooks.history import WebhookHistory
from penstock.areas.webhooks.model import WebhookDto, WebhookReceipt, WebhookRequestMessage
from penstock.areas.webhooks.receiver import WebhookReceiver
from penstock.areas.webhooks.request import WebhookRequest
from penstock.areas.webhooks.service import WebhookService
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import Encoded, File
from penstock.resource.call import Call
from penstock.resource.operation import MIB, operation

_ADDRESS = "/webhooks/{webhookId}"


class WebhookHandlers:
    """Webhooks are made and changed by configuration documents of kind Webhook; a webhook's id is its name."""

    def __init__(self, webhooks: WebhookService, history: WebhookHistory, receiver: WebhookReceiver) -> None:
        self._webhooks = webhooks
        self._history = history
        self._receiver = receiver

    @operation("GET", "/api/webhooks", Role.READER)
    async def list_webhooks(self) -> list[WebhookDto]:
        """List the webhooks, newest first."""
        return await self._webhooks.all()

    @operation("GET", "/api/webhooks/{webhookId}/history", Role.READER)
    async def webhook_history(self, webhook_id: str) -> Encoded[list[WebhookRequestMessage]]:
        """List the requests that a webhook received, newest first.

        Secrets in headers and query are masked. A Body that is no UTF-8 is a `data:` URL in base64. At most the
        newest 1,000 are answered, or 32 MiB; the stream `webhook-<name>` has all that are kept.
        """
        return await self._history.newest((await self._webhooks.named(webhook_id)).name)

    @operation("DELETE", "/api/webhooks/{webhookId}/history", Role.OPERATOR)
    async def clear_webhook_history(self, webhook_id: str, actor: Actor) -> File:
        """Forget the requests that a webhook received."""
        await self._receiver.clear(webhook_id, actor)
        return File()

    @operation("POST", "/api/webhooks/{webhookId}/rehandle/{messageId}", Role.OPERATOR)
    async def rehandle_webhook_message(self, webhook_id: str, message_id: str, actor: Actor) -> File:
        """Publish a received request again.

        The copy is a message of its own in the history, and a new event that names the original in `rehandledfrom`.
        """
        await self._receiver.rehandle(webhook_id, message_id, actor)
        return File()

    @operation("GET", _ADDRESS, beyond=True, any_query=True)
    @operation("POST", _ADDRESS, beyond=True, any_query=True)
    @operation("PUT", _ADDRESS, beyond=True, any_query=True)
    @operation("PATCH", _ADDRESS, beyond=True, any_query=True)
    @operation("DELETE", _ADDRESS, beyond=True, any_query=True)
    @operation("OPTIONS", _ADDRESS, beyond=True, any_query=True)
    async def receive_webhook(self, webhook_id: str, call: Call) -> WebhookReceipt:
        """Send a request to a webhook, in whatever form.

        The webhook's own check says who may send. Answered once the request and its event are stored.
        """
        body = await call.read(MIB)
        request = WebhookRequest(
            method=call.method,
            path=call.path,
            query=call.query.decode("latin-1"),
            header_list=[(name.decode("latin-1"), value.decode("latin-1")) for name, value in call.header_list],
            body=body,
        )
        return await self._receiver.receive(webhook_id, request)
