"""The configuration kind WebJob."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from penstock.areas.webjobs.model import WebJobEntity, WebJobStatus
from penstock.areas.webjobs.service import WebJobService
from penstock.kernel.actor import Actor
from penstock.protocol.capability import Requirement
from penstock.resource.kind import Metadata, Spec
from penstock.resource.resource_kind import ResourceKind
from penstock.store.write import Write


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


class WebJobKind(ResourceKind[WebJobSpec, WebJobEntity]):
    """A web job. One with a cron expression makes the flow `webjob-<name>`."""

    kind = "WebJob"
    spec = WebJobSpec

    def __init__(self, service: WebJobService) -> None:
        super().__init__(service)
        self._service = service

    async def plan_put(
        self, metadata: Metadata, spec: WebJobSpec, before: WebJobEntity | None, actor: Actor
    ) -> tuple[WebJobEntity, Sequence[Write]]:
        return await self._service.plan(_wanted(metadata, spec, before), before, actor)

    def shown(self, entity: WebJobEntity) -> WebJobSpec:
        return _shown(entity)


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
