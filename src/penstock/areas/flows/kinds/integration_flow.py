"""The configuration kind IntegrationFlow."""

from functools import partial
from typing import Annotated

import msgspec

from penstock.areas.flows.model import Flow, IntegrationFlow, IntegrationFlowFile
from penstock.areas.flows.saving import FlowSaving
from penstock.areas.flows.service import FlowService
from penstock.kernel.actor import Actor
from penstock.kernel.errors import FieldError, Invalid, NameTaken
from penstock.kernel.wire import Map
from penstock.protocol.capability import Requirement
from penstock.protocol.work import IntegrationStatusEnum2
from penstock.resource.kind import ConfigurationKind, Metadata, Plan, Spec

_STARTED = {IntegrationStatusEnum2.STARTED: True, IntegrationStatusEnum2.STOPPED: False}


class FileSpec(Spec):
    """A text that lies in the flow's folder."""

    file_name: str
    file_content: str = ""


class RequirementSpec(Spec):
    """A capability that an agent must have to run the flow."""

    identifier: str
    value: str = ""


class IntegrationFlowSpec(Spec):
    """A flow in Camel's YAML DSL, which runs on every agent that meets the requirements."""

    flow_spec: Annotated[str, msgspec.Meta(description="The routes, in Camel's YAML DSL.")]
    started: Annotated[
        bool | None,
        msgspec.Meta(description="Whether it is to run; omitted, that stays as it is, and a new flow is stopped."),
    ] = None
    project: str | None = None
    category: Annotated[str | None, msgspec.Meta(description="metadata.category stands in for it.")] = None
    labels: list[str] = []
    variables: Annotated[
        Map, msgspec.Meta(description="The flow's own: `{{var:NAME}}` means them before the platform's.")
    ] = {}
    integration_files: Annotated[
        list[FileSpec], msgspec.Meta(description="Texts that lie in the flow's folder while it runs.")
    ] = []
    additional_packages: Annotated[
        str | None,
        msgspec.Meta(description="Maven coordinates (Camel) or Python requirements, separated by commas or lines."),
    ] = None
    requirements: Annotated[
        list[RequirementSpec],
        msgspec.Meta(description="Capabilities that an agent must have. Without any, every agent runs it."),
    ] = []
    readme: str | None = None


class IntegrationFlowKind(ConfigurationKind[IntegrationFlowSpec]):
    """A flow. A document that changes nothing makes no version; a flow that a Schedule makes is not touched."""

    kind = "IntegrationFlow"
    spec = IntegrationFlowSpec

    def __init__(self, saving: FlowSaving, service: FlowService) -> None:
        self._saving = saving
        self._service = service

    async def plan(self, metadata: Metadata, spec: IntegrationFlowSpec, actor: Actor) -> Plan:
        before = await self._saving.find(metadata.name)
        wanted = _wanted(metadata, spec, before)
        requested = None if spec.started is None else IntegrationStatusEnum2(int(spec.started))
        shown = await self._shown(before) if before is not None else None
        try:
            after, writes = await self._saving.plan(wanted, before, actor, requested)
        except Invalid as error:
            raise Invalid([FieldError(_place(each.field), each.message) for each in error.errors]) from None
        planned = _spec_of(wanted, after.requested_status)
        if before is not None and shown == planned:
            return Plan("keep", before=shown, after=shown)
        return Plan(
            "create" if before is None else "change",
            before=shown,
            after=planned,
            writes=writes,
            finish=[partial(self._announce, after, before)],
        )

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        flow = await self._saving.find(metadata.name)
        if flow is None:
            return Plan("keep")
        if flow.schedule is not None:
            maker = flow.category or "resource"
            raise NameTaken(f"the {maker} '{flow.schedule}' makes the flow '{flow.name}': remove that instead")
        return Plan(
            "remove",
            before=await self._shown(flow),
            writes=await self._service.plan_delete(flow, actor),
            finish=[partial(self._announce, flow, None)],
        )

    async def _shown(self, flow: Flow) -> IntegrationFlowSpec:
        return _spec_of(await self._saving.content(flow), flow.requested_status)

    async def _announce(self, flow: Flow, before: Flow | None) -> None:
        self._saving.announce(flow, before)


def _wanted(metadata: Metadata, spec: IntegrationFlowSpec, before: Flow | None) -> IntegrationFlow:
    return IntegrationFlow(
        name=before.name if before is not None else metadata.name,
        project=spec.project,
        flow_spec=spec.flow_spec,
        variables=spec.variables or None,
        category=spec.category if spec.category is not None else metadata.category,
        labels=spec.labels or None,
        integration_files=[
            IntegrationFlowFile(file_name=file.file_name, file_content=file.file_content)
            for file in spec.integration_files
        ],
        additional_packages=spec.additional_packages,
        requirements=[Requirement(identifier=each.identifier, value=each.value) for each in spec.requirements],
        readme=spec.readme,
    )


def _spec_of(flow: IntegrationFlow, requested: IntegrationStatusEnum2) -> IntegrationFlowSpec:
    return IntegrationFlowSpec(
        flow_spec=flow.flow_spec or "",
        started=_STARTED.get(requested),
        project=flow.project,
        category=flow.category,
        labels=flow.labels or [],
        variables=flow.variables or {},
        integration_files=[
            FileSpec(file_name=file.file_name or "", file_content=file.file_content or "")
            for file in flow.integration_files or ()
        ],
        additional_packages=flow.additional_packages,
        requirements=[
            RequirementSpec(identifier=each.identifier or "", value=each.value or "")
            for each in flow.requirements or ()
        ],
        readme=flow.readme,
    )


def _place(field: str) -> str:
    """A field of the flow as the document names it."""
    if field == "Name":
        return "metadata.name"
    return "spec." + ".".join(part[:1].lower() + part[1:] for part in field.split("."))
