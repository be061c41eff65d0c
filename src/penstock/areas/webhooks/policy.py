"""What installations may set about webhooks."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class WebhookPolicy:
    """keep, keep_requests: how long, and how many, requests of one webhook are kept.

    repair: how often streams are compared with webhooks. orphan_after: a stream without a webhook is deleted when it
    is older; a younger one may belong to a webhook that is being applied.
    """

    keep: timedelta = timedelta(days=30)
    keep_requests: int = 10_000
    repair: timedelta = timedelta(minutes=10)
    orphan_after: timedelta = timedelta(minutes=10)
