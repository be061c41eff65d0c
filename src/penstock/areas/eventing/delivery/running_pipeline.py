"""A channel's pipeline, opened: components ready to be applied, connections of endpoints held."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from traceback import format_exc

import msgspec
import structlog

from penstock.areas.eventing.channels import ChannelService
from penstock.areas.eventing.delivery.policy import DeliveryPolicy
from penstock.areas.eventing.model import ChannelComponent
from penstock.areas.eventing.stored import Channel
from penstock.bus.bus import Bus
from penstock.connectors.circuit_breaker import CircuitBreaker
from penstock.connectors.component import Apply, ComponentKind
from penstock.connectors.endpoint import Deliver, EndpointKind
from penstock.connectors.failure import DeliveryFailed, Undeliverable
from penstock.connectors.kind import Kind
from penstock.connectors.reference import names_in
from penstock.connectors.registry import Family, configuration_object, registry
from penstock.connectors.resolution import Secrets, Values, resolved
from penstock.connectors.surroundings import Surroundings
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid
from penstock.protocol.cloudevent import CloudEvent
from penstock.resource.ports.variables import Variables

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Target:
    """One endpoint. key: tells it from the others, and from what another configuration made of it."""

    key: str
    type: str
    position: int
    breaker: CircuitBreaker
    deliver: Deliver


@dataclass(frozen=True)
class RunningPipeline:
    """targets: in the order in which they are served."""

    components: Sequence[tuple[str, Apply]]
    targets: Sequence[Target]
    secrets: Secrets

    async def apply(self, event: CloudEvent) -> CloudEvent | None:
        """The event as its endpoints get it; None when it is dropped. Raises DeliveryFailed, Undeliverable."""
        passing: CloudEvent | None = event
        for type, apply in self.components:
            if passing is None:
                break
            try:
                passing = await apply(passing)
            except DeliveryFailed:
                raise
            except Exception as error:  # noqa: BLE001 - foreign code; the event becomes a dead letter that says so
                log.error("component failed", component=type, trace=self.secrets.hidden(format_exc()))
                raise Undeliverable(f"the component {type} failed: {error.__class__.__name__}") from None
        return passing


class Pipelines:
    """Opens the pipelines of channels."""

    def __init__(
        self,
        channels: ChannelService,
        variables: Variables,
        bus: Bus,
        guard: AddressGuard,
        clock: Clock,
        policy: DeliveryPolicy,
    ) -> None:
        self._channels = channels
        self._variables = variables
        self._bus = bus
        self._guard = guard
        self._clock = clock
        self._policy = policy

    @asynccontextmanager
    async def open(self, channel: Channel) -> AsyncIterator[RunningPipeline]:
        """Raises Invalid for variables that are missing and what does not fit then, SecretUnreadable, Unavailable."""
        parts = await self._channels.opened(channel)
        values = await self._values(channel, [*parts.components, *parts.endpoints])
        surroundings = Surroundings(channel.name, self._bus, self._guard, self._clock)
        secrets = Secrets()
        components = [
            (use.identifier, use.start(surroundings))
            for part in sorted(parts.components, key=_position)
            if isinstance(use := _use(Family.COMPONENT, part, values, secrets), ComponentKind)
        ]
        async with AsyncExitStack() as stack:
            targets = []
            keys = [_key(part) for part in channel.endpoints]  # of the masked form: they are shown in dead letters
            for key, part in sorted(zip(keys, parts.endpoints, strict=True), key=lambda pair: _position(pair[1])):
                use = _use(Family.ENDPOINT, part, values, secrets)
                if isinstance(use, EndpointKind):
                    deliver = await stack.enter_async_context(use.open(surroundings))
                    targets.append(self._target(key, part, use, deliver, secrets))
            yield RunningPipeline(components, targets, secrets)

    async def _values(self, channel: Channel, parts: Sequence[ChannelComponent]) -> Values:
        """The variables that the configurations name: the channel's own, then the platform's."""
        names = {name for part in parts for name in names_in(configuration_object(part.json_configuration))}
        own = {name: (value, False) for name, value in (channel.variables or {}).items() if name in names}
        return {**await self._variables.values(sorted(names - own.keys())), **own}

    def _target(
        self, key: str, part: ChannelComponent, use: EndpointKind, deliver: Deliver, secrets: Secrets
    ) -> Target:
        first, longest = self._policy.breaker_pauses
        breaker = CircuitBreaker(asyncio.get_running_loop().time, first_pause=first, longest_pause=longest)
        return Target(key, use.identifier, part.position, breaker, _guarded(use.identifier, deliver, secrets))


def _use(family: Family, part: ChannelComponent, values: Values, secrets: Secrets) -> Kind:
    place = f"{family} {part.position}"
    try:
        kind = registry().kind(family, part.type, part.version)
        return resolved(kind, configuration_object(part.json_configuration), values, secrets)
    except Invalid as error:
        raise Invalid([FieldError(f"{place}.{e.field}", e.message) for e in error.errors]) from None


def _position(part: ChannelComponent) -> int:
    return part.position


def _key(part: ChannelComponent) -> str:
    described = msgspec.json.encode([part.type, part.position, part.json_configuration])
    return hashlib.blake2b(described, digest_size=8).hexdigest()


def _guarded(type: str, deliver: Deliver, secrets: Secrets) -> Deliver:
    """Deliver, whose every failure is a DeliveryFailed without secrets in its text."""

    async def guarded(event: CloudEvent) -> None:
        try:
            await deliver(event)
        except DeliveryFailed as error:
            error.detail = secrets.hidden(error.detail)
            raise
        except Exception as error:  # noqa: BLE001 - foreign code; counts as a failed try
            log.error("endpoint failed", endpoint=type, trace=secrets.hidden(format_exc()))
            raise DeliveryFailed(f"the endpoint {type} failed: {error.__class__.__name__}") from None

    return guarded
