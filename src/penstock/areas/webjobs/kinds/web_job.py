"""The configuration kind WebJob."""

from functools import partial
from typing import Annotated

import msgspec

from penstock.areas.webjobs.model import WebJobEntity, WebJobStatus
from penstock.areas.webjobs.service import WebJobService
from penstock.kernel.actor import Actor
from penstock.kernel.errors import Invalid
from penstock.protocol.capability import Requirement
from penstock.resource.kind import ConfigurationKind, Metadata, Plan, Spec, in_document

_PLACES = {"Name": "metadata.name"}


class WebJobSpec(Spec):
    """A command that agents run when it is due, or keep running."""

    command: Annotated[
        str | None,
        msgspec.Meta(
            description="Program to run, without a shell: one that the agent has, or one of the package. Without it, "
            "the program that is called like the package."
        ),
    ] = None
    command_arguments: Annotated[
        str | None,
        msgspec.Meta(description="Split as a shell would. `{{var:NAME}}` is replaced; secret variables are refused."),
    ] = None
    package_id: Annotated[
        str | None,
        msgspec.Meta(description="Python package that brings the program, installed into an environment of its own."),
    ] = None
    package_version: Annotated[str | None, msgspec.Meta(description="Its version; the newest when omitted.")] = None
    cron_expression: Annotated[
        str | None,
        msgspec.Meta(
            description="When it is due, in the time zone of each agent, as in Schedule. Without it agents keep it "
            "running."
        ),
    ] = None
    environment_variables: Annotated[
        dict[str, str | int | float | bool],
        msgspec.Meta(
            description="Of its process. `{{var:NAME}}` in a text is replaced when it starts, by a secret too."
        ),
    ] = {}
    is_enabled: Annotated[bool, msgspec.Meta(description="One that is not enabled does not run.")] = True
    started: Annotated[
        bool | None, msgspec.Meta(description="Whether it is to run. When omitted it stays; a new one is started.")
    ] = None
    requirements: Annotated[
        dict[str, str], msgspec.Meta(description="Capabilities that an agent must have; see Schedule.")
    ] = {}


class WebJobKind(ConfigurationKind[WebJobSpec]):
    """A web job. One with a cron expression makes the flow `webjob-<name>`."""

    kind = "WebJob"
    spec = WebJobSpec

    def __init__(self, service: WebJobService) -> None:
        self._service = service

    async def plan(self, metadata: Metadata, spec: WebJobSpec, actor: Actor) -> Plan:
        before = await self._service.find(metadata.name)
        try:
            after, writes = await self._service.plan(_wanted(metadata, spec, before), before, actor)
        except Invalid as error:
            raise in_document(error, _PLACES) from None
        shown = _shown(before) if before is not None else None
        if not writes:
            return Plan("keep", before=shown, after=shown)
        return Plan(
            "change" if before is not None else "create",
            before=shown,
            after=_shown(after),
            writes=writes,
            finish=[partial(self._service.announce, after)],
        )

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        job = await self._service.find(metadata.name)
        if job is None:
            return Plan("keep")
        return Plan(
            "remove",
            before=_shown(job),
            writes=await self._service.plan_remove(job, actor),
            finish=[partial(self._service.announce, job)],
        )


def _wanted(metadata: Metadata, spec: WebJobSpec, before: WebJobEntity | None) -> WebJobEntity:
    started = spec.started if spec.started is not None or before is not None else True
    requested = {None: WebJobStatus.UNKNOWN, True: WebJobStatus.STARTED, False: WebJobStatus.STOPPED}[started]
    return WebJobEntity(
        name=metadata.name,
        command=spec.command,
        command_arguments=spec.command_arguments,
        package_id=spec.package_id,
        package_version=spec.package_version,
        cron_expression=spec.cron_expression,
        is_enabled=spec.is_enabled,
        requirements=[Requirement(identifier=key, value=value) for key, value in spec.requirements.items()],
        environment_variables=dict(spec.environment_variables),
        requested_status=requested,
    )


def _shown(job: WebJobEntity) -> WebJobSpec:
    return WebJobSpec(
        command=job.command,
        command_arguments=job.command_arguments,
        package_id=job.package_id,
        package_version=job.package_version,
        cron_expression=job.cron_expression,
        environment_variables=job.environment_variables or {},
        is_enabled=job.is_enabled,
        started=job.requested_status is WebJobStatus.STARTED,
        requirements={each.identifier or "": each.value or "" for each in job.requirements or ()},
    )
