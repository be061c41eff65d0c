"""The stream of each webhook: the requests that it received."""

from penstock.areas.webhooks.model import WEBHOOKS
from penstock.areas.webhooks.policy import WebhookPolicy
from penstock.bus.bus import Bus
from penstock.bus.naming import stream_key
from penstock.bus.streams import StreamSpec
from penstock.kernel.clock import Clock
from penstock.protocol.subjects import stream_subject
from penstock.resource.owned_streams import OwnedStreams
from penstock.store.store import Store

PREFIX = "webhook-"
LONGEST_NAME = 128 - len(PREFIX)


def stream_of(webhook: str) -> str:
    """The stream's name."""
    return PREFIX + webhook


def subject_of(webhook: str, message: str) -> str:
    """Where a message is published: each has a subject of its own, by which it is found. message: its id, or `*`."""
    return f"{stream_subject(stream_key(stream_of(webhook)))}.{message}"


class WebhookStreams(OwnedStreams):
    """The streams of all webhooks."""

    def __init__(self, bus: Bus, store: Store, clock: Clock, policy: WebhookPolicy) -> None:
        self._policy = policy
        super().__init__(
            bus,
            store,
            clock,
            owners=WEBHOOKS,
            prefix=PREFIX,
            spec_of=self._spec,
            orphan_after=policy.orphan_after,
        )

    def _spec(self, webhook: str) -> StreamSpec:
        return StreamSpec(
            name=stream_of(webhook),
            subjects=[subject_of(webhook, "*")],
            description=f"requests that the webhook {webhook} received",
            max_age=self._policy.keep,
            max_messages=self._policy.keep_requests,
        )
