"""The configuration kind DatabaseChangeTracking."""

from functools import partial
from typing import Annotated, Any, Literal

import msgspec

from penstock.areas.eventsources.configured import Names
from penstock.areas.eventsources.instances import Wanted
from penstock.areas.eventsources.stored import SourceInstance, SourceTracking
from penstock.areas.eventsources.streams import SourceStreams
from penstock.areas.eventsources.trackings import LONGEST, TrackingService, parameters_of
from penstock.kernel.actor import Actor
from penstock.kernel.duration import Duration
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_errors
from penstock.kernel.wire import encode
from penstock.protocol.capability import Requirement
from penstock.resource.kind import ConfigurationKind, Metadata, Plan, Spec

_NAMES = Names("spec.type", "spec.type", "spec.parameters")
_CADENCE = ("spec.frequency", "spec.cron")

Found = tuple[SourceTracking, SourceInstance]


class DatabaseChangeTrackingSpec(Spec):
    """A table whose new or changed rows become events."""

    type: Annotated[
        Literal["growing", "version"],
        msgspec.Meta(
            description="`growing`: the column grows with each new row, like an identity. `version`: with each change "
            "of a row, like a row version or the time of the last change."
        ),
    ]
    parameters: Annotated[
        dict[str, Any],
        msgspec.Meta(
            description="`url`, `table` and `column`, and what else the event source `database-change` describes but "
            "`tracking`. `{{var:NAME}}` in a text is replaced on the agent."
        ),
    ]
    frequency: Annotated[
        Duration | None, msgspec.Meta(description="How often the table is looked at; 30 seconds when omitted.")
    ] = None
    cron: Annotated[
        str | None,
        msgspec.Meta(description="When it is looked at, in the time zone of the agent, in place of `frequency`."),
    ] = None
    variables: Annotated[
        dict[str, str] | None,
        msgspec.Meta(description="Values for `{{var:NAME}}` in the parameters, before variables of the same name."),
    ] = None
    requirements: Annotated[
        dict[str, str],
        msgspec.Meta(description="Capabilities that an agent must have, such as DatabaseAccess; see Schedule."),
    ] = {}


class DatabaseChangeTrackingKind(ConfigurationKind[DatabaseChangeTrackingSpec]):
    """Tracks the changes of a table. Makes the event source `databasechange-<name>` of the kind `database-change`."""

    kind = "DatabaseChangeTracking"
    spec = DatabaseChangeTrackingSpec

    def __init__(self, trackings: TrackingService, streams: SourceStreams) -> None:
        self._trackings = trackings
        self._streams = streams

    async def plan(self, metadata: Metadata, spec: DatabaseChangeTrackingSpec, actor: Actor) -> Plan:
        errors = _errors(metadata, spec)
        if errors:
            raise Invalid(errors)
        before = await self._trackings.find(metadata.name)
        after, writes = await self._trackings.plan(_wanted(metadata, spec), spec.type, before, actor)
        return Plan.of_put(
            _shown(*before) if before is not None else None,
            _spec(spec.type, after),
            writes,
            prepare=[partial(self._streams.ensure, after.name)],
            finish=[partial(self._trackings.announce, after)],
        )

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        found = await self._trackings.find(metadata.name)
        if found is None:
            return Plan("keep")
        _, instance = found
        return Plan(
            "remove",
            before=_shown(*found),
            writes=await self._trackings.plan_removal(*found, actor),
            finish=[partial(self._trackings.announce, instance), partial(self._streams.remove, instance.name)],
        )


def _errors(metadata: Metadata, spec: DatabaseChangeTrackingSpec) -> list[FieldError]:
    errors = name_errors("metadata.name", metadata.name, LONGEST)
    if "tracking" in spec.parameters:
        errors.append(FieldError("spec.parameters.tracking", "is said by spec.type"))
    return errors


def _wanted(metadata: Metadata, spec: DatabaseChangeTrackingSpec) -> Wanted:
    return Wanted(
        name=metadata.name,
        type=None,
        configuration=encode({**spec.parameters, "tracking": spec.type}).decode(),
        description=metadata.description,
        frequency=spec.frequency,
        cron=spec.cron,
        requirements=[Requirement(identifier=name, value=value) for name, value in spec.requirements.items()],
        variables=spec.variables or {},
        names=_NAMES,
        cadence=_CADENCE,
        name_field="metadata.name",
    )


def _shown(tracking: SourceTracking, instance: SourceInstance) -> DatabaseChangeTrackingSpec:
    return _spec(tracking.type, instance)


def _spec(kind: Any, instance: SourceInstance) -> DatabaseChangeTrackingSpec:
    return DatabaseChangeTrackingSpec(
        type=kind,
        parameters=parameters_of(instance),
        frequency=instance.frequency,
        cron=instance.cron,
        variables=instance.variables or None,
        requirements={each.identifier or "": each.value or "" for each in instance.requirements},
    )
