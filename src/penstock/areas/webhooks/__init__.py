"""Webhooks: addresses that take requests from outside, keep them whole and make events of them."""

from penstock.areas.webhooks.history import WebhookHistory
from penstock.areas.webhooks.http import WebhookHandlers
from penstock.areas.webhooks.kinds.webhook import WebhookKind
from penstock.areas.webhooks.model import WEBHOOKS
from penstock.areas.webhooks.receiver import WebhookReceiver
from penstock.areas.webhooks.service import WebhookService
from penstock.areas.webhooks.streams import WebhookStreams
from penstock.areas.webhooks.worker import WebhookRepair
from penstock.resource.area import Area

AREA = Area(
    name="webhooks",
    collections=(WEBHOOKS,),
    services=(WebhookService, WebhookHistory, WebhookReceiver, WebhookStreams),
    handlers=(WebhookHandlers,),
    workers=(WebhookRepair,),
    kinds=(WebhookKind,),
)
