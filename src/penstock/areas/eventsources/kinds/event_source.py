"""The configuration kind EventSource."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import msgspec

from penstock.areas.eventsources.configured import Names
from penstock.areas.eventsources.instances import InstanceService, Wanted
from penstock.areas.eventsources.stored import SourceInstance
from penstock.areas.eventsources.streams import SourceStreams
from penstock.connectors.registry import configuration_object
from penstock.kernel.actor import Actor
from penstock.kernel.duration import Duration
from penstock.kernel.errors import Invalid
from penstock.kernel.wire import encode
from penstock.protocol.capability import Requirement
from penstock.resource.kind import Metadata, Plan, Spec, Step
from penstock.resource.resource_kind import ResourceKind
from penstock.store.write import Write

_NAMES = Names("spec.type", "spec.version", "spec.parameters")
_CADENCE = ("spec.frequency", "spec.cron")


class EventSourceSpec(Spec):
    """Where events come from, run by every agent that meets the requirements."""

    type: Annotated[str, msgspec.Meta(description="Its kind, as the catalog of event sources lists it.")]
    version: Annotated[
        str | None, msgspec.Meta(description="Of the configuration's form; the newest when omitted.")
    ] = None
    parameters: Annotated[
        dict[str, Any],
        msgspec.Meta(
            description="What the kind's schema describes. `{{var:NAME}}` in a text is replaced where it runs. Secrets "
            "are sealed and shown as a mask, which keeps the secret while the rest stays."
        ),
    ] = {}
    frequency: Annotated[
        Duration | None, msgspec.Meta(description="How often it is polled, if its kind is; 30 seconds when omitted.")
    ] = None
    cron: Annotated[
        str | None,
        msgspec.Meta(description="When it is polled, in the agent's time zone, in place of `frequency`; six fields."),
    ] = None
    variables: Annotated[
        dict[str, str] | None,
        msgspec.Meta(description="Values for `{{var:NAME}}` in this event source, before variables of the same name."),
    ] = None
    requirements: Annotated[
        dict[str, str], msgspec.Meta(description="Capabilities that an agent must have; see Schedule.")
    ] = {}


class EventSourceKind(ResourceKind[EventSourceSpec, SourceInstance]):
    """An event source that agents run. Makes the stream `eventsource-<name>`; its events are published."""

    kind = "EventSource"
    spec = EventSourceSpec

    def __init__(self, instances: InstanceService, streams: SourceStreams) -> None:
        super().__init__(instances)
        self._instances = instances
        self._streams = streams

    async def plan_put(
        self, metadata: Metadata, spec: EventSourceSpec, before: SourceInstance | None, actor: Actor
    ) -> tuple[SourceInstance, Sequence[Write]]:
        _check_untracked(before)
        return await self._instances.plan(_wanted(metadata, spec, before), before, actor)

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        _check_untracked(await self._instances.find(metadata.name))
        return await super().plan_removal(metadata, actor)

    def placed(self, error: Invalid) -> Invalid:
        return error

    def prepare(self, entity: SourceInstance) -> Sequence[Step]:
        return [partial(self._streams.ensure, entity.name)]

    def clear(self, entity: SourceInstance) -> Sequence[Step]:
        return [partial(self._streams.remove, entity.name)]

    def shown(self, entity: SourceInstance) -> EventSourceSpec:
        return EventSourceSpec(
            type=entity.type,
            version=entity.version,
            parameters=configuration_object(entity.configuration),
            frequency=entity.frequency,
            cron=entity.cron,
            variables=entity.variables or None,
            requirements={each.identifier or "": each.value or "" for each in entity.requirements},
        )


def _check_untracked(instance: SourceInstance | None) -> None:
    if instance is not None and instance.tracking is not None:
        reason = f"belongs to the DatabaseChangeTracking '{instance.tracking}': change that instead"
        raise Invalid.one("metadata.name", reason)


def _wanted(metadata: Metadata, spec: EventSourceSpec, before: SourceInstance | None) -> Wanted:
    return Wanted(
        name=before.name if before is not None else metadata.name,
        type=spec.type,
        version=spec.version,
        configuration=encode(spec.parameters).decode(),
        description=metadata.description,
        frequency=spec.frequency,
        cron=spec.cron,
        requirements=[Requirement(identifier=name, value=value) for name, value in spec.requirements.items()],
        variables=spec.variables or {},
        names=_NAMES,
        cadence=_CADENCE,
        name_field="metadata.name",
    )
