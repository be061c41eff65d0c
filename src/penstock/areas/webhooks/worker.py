"""Work beside the requests: streams kept in step with the webhooks, secrets sealed anew after a rotation."""

from penstock.areas.webhooks.policy import WebhookPolicy
from penstock.areas.webhooks.service import WebhookService
from penstock.areas.webhooks.streams import WebhookStreams
from penstock.resource.area import Worker


class WebhookRepair(Worker):
    """Brings streams and webhooks in step, should a process have died between the two, or a setting have changed."""

    def __init__(self, webhooks: WebhookService, streams: WebhookStreams, policy: WebhookPolicy) -> None:
        self._webhooks = webhooks
        self._streams = streams
        self._policy = policy

    async def run(self) -> None:
        await self._webhooks.renew_seals()
        for webhook in await self._webhooks.all():
            await self._streams.ensure(webhook.name or "")
        await self._streams.repair_every(self._policy.repair)
