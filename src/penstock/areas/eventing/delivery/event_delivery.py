"""One event on its way through a channel's pipeline, try after try."""

import asyncio
from collections.abc import Sequence

from penstock.areas.eventing.delivery.dead_letter import DeliveryFailure
from penstock.areas.eventing.delivery.metrics import Outcome, count
from penstock.areas.eventing.delivery.policy import DeliveryPolicy
from penstock.areas.eventing.delivery.progress import Leg, Progress
from penstock.areas.eventing.delivery.running_pipeline import RunningPipeline, Target
from penstock.connectors.failure import DeliveryFailed, EndpointGone, Undeliverable
from penstock.protocol.cloudevent import CloudEvent

_COMPONENTS = "components"


class EventDelivery:
    """Every endpoint has tries of its own; one that has the event, or was given up, is not called again.

    gone: the endpoint that wants no more events, as the last attempt found.
    """

    def __init__(self, event: CloudEvent, progress: Progress, policy: DeliveryPolicy) -> None:
        self._event = event
        self._progress = progress
        self._policy = policy
        self._now = asyncio.get_running_loop().time
        self._targets: Sequence[Target] = ()
        self.gone: Target | None = None

    async def attempt(self, pipeline: RunningPipeline) -> None:
        """Applies the components and calls, in their order, the endpoints whose try is due."""
        self.gone = None
        self._targets = ()
        leg = self._progress.leg(_COMPONENTS)
        try:
            passing = await pipeline.apply(self._event)
        except DeliveryFailed as error:
            self._fail(leg, error)
            return
        leg.delivered = True
        if passing is None:
            count(Outcome.DROPPED, _COMPONENTS)
            return
        self._targets = pipeline.targets
        for target in pipeline.targets:
            await self._call(target, passing)

    @property
    def settled(self) -> bool:
        """Whether nothing is left to be tried."""
        return all(leg.settled for leg in self._legs())

    def next_in(self) -> float:
        """Seconds until the next try is due."""
        return max(min(leg.due for leg in self._legs() if not leg.settled) - self._now(), 0.0)

    def hurry(self) -> None:
        """Lets everything be tried at once."""
        for leg in self._legs():
            leg.due = 0.0

    def failures(self) -> list[DeliveryFailure]:
        """What was given up."""
        components = self._progress.leg(_COMPONENTS)
        if components.failed:
            return [DeliveryFailure(type=_COMPONENTS, position=0, tries=components.tries, error=components.error)]
        return [
            DeliveryFailure(type=target.type, position=target.position, tries=leg.tries, error=leg.error)
            for target in self._targets
            if (leg := self._progress.leg(target.key)).failed
        ]

    def delivered(self) -> list[str]:
        """Keys of the endpoints that have the event."""
        return [target.key for target in self._targets if self._progress.leg(target.key).delivered]

    async def _call(self, target: Target, event: CloudEvent) -> None:
        leg = self._progress.leg(target.key)
        if leg.settled or leg.due > self._now():
            return
        wait = target.breaker.ready_in()
        if wait > 0:
            leg.due = self._now() + wait
            return
        try:
            with target.breaker.attempt():
                await target.deliver(event)
        except EndpointGone as error:
            leg.error = error.detail
            self.gone = target
        except DeliveryFailed as error:
            self._fail(leg, error)
            count(Outcome.GIVEN_UP if leg.failed else Outcome.FAILED, target.type)
        else:
            leg.delivered = True
            count(Outcome.DELIVERED, target.type)

    def _fail(self, leg: Leg, error: DeliveryFailed) -> None:
        leg.tries += 1
        leg.error = error.detail
        pause = None if isinstance(error, Undeliverable) else self._policy.pause_after(leg.tries)
        if pause is None:
            leg.failed = True
        else:
            leg.due = self._now() + max(pause, error.retry_after or 0.0)

    def _legs(self) -> list[Leg]:
        keys = [_COMPONENTS, *(target.key for target in self._targets)]
        return [self._progress.leg(key) for key in keys]
