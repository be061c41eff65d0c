"""The configuration kind MftIntegration."""

import re
from collections.abc import Sequence
from typing import Annotated

import msgspec

from penstock.areas.transfers.model import MftIntegration2, MftStorage2
from penstock.areas.transfers.service import TransferService
from penstock.areas.transfers.stored import Mft
from penstock.kernel.actor import Actor
from penstock.kernel.errors import FieldError, Invalid
from penstock.protocol.capability import Requirement
from penstock.protocol.work import IntegrationStatusEnum2
from penstock.resource.kind import Metadata, Need, Spec
from penstock.resource.resource_kind import ResourceKind
from penstock.store.write import Write

_SIDE = re.compile(r"^spec\.(source|destination)\.(Name|Path)$")


class StorageSpec(Spec):
    """A folder in a storage."""

    name: Annotated[str, msgspec.Meta(description="A core system of category `storage`.")]
    path: Annotated[str, msgspec.Meta(description="The folder in it; `{{var:NAME}}` is replaced when it runs.")] = ""


class MftIntegrationSpec(Spec):
    """A transfer of files between two storages."""

    command: Annotated[
        str,
        msgspec.Meta(
            description="`copy`; `sync`, which also deletes what the source lacks; or `move`, which leaves nothing."
        ),
    ]
    source: Annotated[StorageSpec, msgspec.Meta(description="Where files come from.")]
    destination: Annotated[StorageSpec, msgspec.Meta(description="Where files go to.")]
    schedule: Annotated[
        str | None,
        msgspec.Meta(description="Six cron fields in the time zone of each agent; without it, it runs by hand."),
    ] = None
    started: Annotated[
        bool | None,
        msgspec.Meta(description="Whether the schedule is followed; a new transfer's is, others stay as they are."),
    ] = None
    requirements: Annotated[
        dict[str, str], msgspec.Meta(description="Capabilities that an agent must have to run it.")
    ] = {}
    variables: Annotated[
        dict[str, str | int | float | bool],
        msgspec.Meta(description="Values for `{{var:NAME}}` that come before the platform's variables."),
    ] = {}
    filters: Annotated[
        str | None,
        msgspec.Meta(description="One glob per line of files to take; with `- ` before it, of files to leave out."),
    ] = None
    args: Annotated[str | None, msgspec.Meta(description="Further options, such as `--transfers 8 --checksum`.")] = None
    project: Annotated[str | None, msgspec.Meta(description="The project that it belongs to.")] = None
    labels: Annotated[str | None, msgspec.Meta(description="Labels, separated by commas.")] = None


class MftIntegrationKind(ResourceKind[MftIntegrationSpec, Mft]):
    """A managed file transfer."""

    kind = "MftIntegration"
    spec = MftIntegrationSpec
    places = {"Name": "metadata.name", "RequestedStatus": "spec.started"}

    def __init__(self, service: TransferService) -> None:
        super().__init__(service)
        self._service = service

    async def plan_put(
        self, metadata: Metadata, spec: MftIntegrationSpec, before: Mft | None, actor: Actor
    ) -> tuple[Mft, Sequence[Write]]:
        return await self._service.plan_put(_wanted(metadata, spec, before), before, actor)

    async def needs(self, entity: Mft) -> Sequence[Need]:
        missing = await self._service.missing(entity)
        return [Need("CoreSystem", name, f"spec.{field.lower()}") for field, name in missing.items()]

    def placed(self, error: Invalid) -> Invalid:
        errors = super().placed(error).errors
        return Invalid(FieldError(_SIDE.sub(lambda side: side[0].lower(), each.field), each.message) for each in errors)

    def shown(self, entity: Mft) -> MftIntegrationSpec:
        return MftIntegrationSpec(
            command=entity.command,
            source=StorageSpec(name=entity.source.name or "", path=entity.source.path or ""),
            destination=StorageSpec(name=entity.destination.name or "", path=entity.destination.path or ""),
            schedule=entity.schedule,
            started=entity.is_started,
            requirements={each.identifier or "": each.value or "" for each in entity.requirements},
            variables=entity.variables or {},
            filters=entity.filters,
            args=entity.args,
            project=entity.project,
            labels=entity.labels,
        )


def _wanted(metadata: Metadata, spec: MftIntegrationSpec, before: Mft | None) -> MftIntegration2:
    started = spec.started if spec.started is not None else (None if before is not None else bool(spec.schedule))
    requested = IntegrationStatusEnum2.UNKNOWN if started is None else IntegrationStatusEnum2(int(started))
    return MftIntegration2(
        name=before.name if before is not None else metadata.name,
        project=spec.project,
        command=spec.command,
        schedule=spec.schedule,
        source=MftStorage2(name=spec.source.name, path=spec.source.path),
        destination=MftStorage2(name=spec.destination.name, path=spec.destination.path),
        requested_status=requested,
        requirements=[Requirement(identifier=key, value=value) for key, value in spec.requirements.items()],
        variables=dict(spec.variables) or None,
        args=spec.args,
        filters=spec.filters,
        labels=spec.labels,
        flow_name=before.flow_name if before is not None else None,
    )
