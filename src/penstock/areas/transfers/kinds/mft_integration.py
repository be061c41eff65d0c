"""The configuration kind MftIntegration."""

import re
from functools import partial
from typing import Annotated

import msgspec

from penstock.areas.transfers.model import MftIntegration2, MftStorage2
from penstock.areas.transfers.service import TransferService
from penstock.areas.transfers.stored import Mft
from penstock.kernel.actor import Actor
from penstock.kernel.errors import FieldError, Invalid
from penstock.protocol.capability import Requirement
from penstock.protocol.work import IntegrationStatusEnum2
from penstock.resource.kind import ConfigurationKind, Metadata, Need, Plan, Spec, in_document

_SIDE = re.compile(r"^spec\.(source|destination)\.(Name|Path)$")
_PLACES = {"Name": "metadata.name", "RequestedStatus": "spec.started"}


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


class MftIntegrationKind(ConfigurationKind[MftIntegrationSpec]):
    """A managed file transfer."""

    kind = "MftIntegration"
    spec = MftIntegrationSpec

    def __init__(self, service: TransferService) -> None:
        self._service = service

    async def plan(self, metadata: Metadata, spec: MftIntegrationSpec, actor: Actor) -> Plan:
        before = await self._service.find(metadata.name)
        wanted = _wanted(metadata, spec, before)
        try:
            after, writes = await self._service.plan_put(wanted, before, actor)
        except Invalid as error:
            raise _placed(error) from None
        missing = await self._service.missing(wanted)
        return Plan.of_put(
            _shown(before) if before is not None else None,
            _shown(after),
            writes,
            needs=[Need("CoreSystem", name, f"spec.{field.lower()}") for field, name in missing.items()],
            finish=[partial(self._service.announce, after)],
        )

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        mft = await self._service.find(metadata.name)
        if mft is None:
            return Plan("keep")
        return Plan(
            "remove",
            before=_shown(mft),
            writes=await self._service.plan_remove(mft, actor, mft.e_tag),
            finish=[partial(self._service.announce, mft)],
        )


def _placed(error: Invalid) -> Invalid:
    errors = in_document(error, _PLACES).errors
    return Invalid(FieldError(_SIDE.sub(lambda side: side[0].lower(), each.field), each.message) for each in errors)


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


def _shown(mft: Mft) -> MftIntegrationSpec:
    return MftIntegrationSpec(
        command=mft.command,
        source=StorageSpec(name=mft.source.name or "", path=mft.source.path or ""),
        destination=StorageSpec(name=mft.destination.name or "", path=mft.destination.path or ""),
        schedule=mft.schedule,
        started=mft.is_started,
        requirements={each.identifier or "": each.value or "" for each in mft.requirements},
        variables=mft.variables or {},
        filters=mft.filters,
        args=mft.args,
        project=mft.project,
        labels=mft.labels,
    )
