"""Flows saved and restored by operators: over HTTP and by configuration documents alike."""

import asyncio
from collections.abc import Sequence

import msgspec

from penstock.areas.flows.catalog import FlowCatalog
from penstock.areas.flows.changing import FlowChanges, next_version
from penstock.areas.flows.checks import check_flow
from penstock.areas.flows.content import FlowContents
from penstock.areas.flows.model import Flow, IntegrationFlow
from penstock.areas.flows.notices import AgentNotices
from penstock.areas.flows.version import FlowVersions, SavedFlow
from penstock.kernel.actor import Actor
from penstock.kernel.errors import NameTaken, NotFound, Stale
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_key
from penstock.protocol.work import FlowFile, IntegrationStatusEnum2
from penstock.resource.matching import needs_of
from penstock.store.write import Write

_TRIES = 10


class FlowSaving:
    """Each save is a version; a flow that another resource makes is changed there, not here."""

    def __init__(
        self,
        catalog: FlowCatalog,
        changes: FlowChanges,
        contents: FlowContents,
        versions: FlowVersions,
        notices: AgentNotices,
    ) -> None:
        self._catalog = catalog
        self._changes = changes
        self._contents = contents
        self._versions = versions
        self._notices = notices

    async def save(
        self, wanted: IntegrationFlow, actor: Actor, *, start: bool = False, if_match: str | None = None
    ) -> Flow:
        """The next version of the flow, or a new flow, which is stopped unless `start`.

        Raises Invalid; NameTaken when a Schedule makes the flow; Stale when `if_match` is not the flow's ETag.
        """
        requested = IntegrationStatusEnum2.STARTED if start else None
        for left in reversed(range(_TRIES)):
            before = await self.find(wanted.name or "")
            if if_match is not None and (before is None or if_match != e_tag_of(before)):
                raise Stale("the flow was changed, or is not there any more")
            try:
                stored, writes = await self.plan(wanted, before, actor, requested)
                await self._changes.flows.commit(writes, stored)
            except (Stale, NotFound, NameTaken):
                if not left or (before is not None and before.schedule is not None):
                    raise
                continue  # somebody else saved it meanwhile
            self.announce(stored, before)
            return stored
        raise Stale

    async def restore(self, name: str, version: str, actor: Actor, if_match: str | None = None) -> Flow:
        """Saves an earlier version again, as the latest. Raises NotFound, NameTaken, Invalid, Stale."""
        flow = await self.named(name)
        saved = await self._versions.get(flow, version)
        return await self.save(await self.content(saved), actor, if_match=if_match)

    async def plan(
        self,
        wanted: IntegrationFlow,
        before: Flow | None,
        actor: Actor,
        requested: IntegrationStatusEnum2 | None = None,
    ) -> tuple[Flow, Sequence[Write]]:
        """The flow as it will be stored, and the writes that store it. requested: None leaves it as it is."""
        await asyncio.to_thread(check_flow, wanted, next_version(before))
        if before is not None and before.schedule is not None:
            maker = before.category or "resource"
            raise NameTaken(f"the {maker} '{before.schedule}' makes the flow '{before.name}': change that instead")
        files, keeping = self._contents.plan_keep(wanted.integration_files or ())
        flow = before or Flow(id=new_id(), name=wanted.name or "")
        described = _described(flow, wanted, files)
        if requested is not None:
            described = msgspec.structs.replace(described, requested_status=requested)
        if before is None:
            stored, writes = await self._changes.plan_create(described, actor)
        else:
            stored, writes = await self._changes.plan_save(described, before, actor)
        return stored, [*keeping, *writes]

    def announce(self, flow: Flow, before: Flow | None) -> None:
        """Tells the agents that have the flow and those that had it, once it is committed."""
        several = [flow] if before is None else [flow, before]
        self._notices.note(flow.name, [needs_of(each.requirements) for each in several])

    async def find(self, name: str) -> Flow | None:
        return (await self._catalog.stored([name])).get(name_key(name)) if name else None

    async def named(self, name: str) -> Flow:
        """Raises NotFound."""
        flow = await self.find(name)
        if flow is None:
            raise NotFound.of("flow", name)
        return flow

    async def content(self, saved: Flow | SavedFlow) -> IntegrationFlow:
        """The flow or version as it was saved, with its files."""
        return IntegrationFlow(
            name=saved.name,
            project=saved.project,
            flow_spec=saved.flow_spec,
            variables=saved.variables,
            category=saved.category,
            labels=saved.labels,
            integration_files=await self._contents.files(saved.integration_files or ()),
            additional_packages=saved.additional_packages,
            requirements=saved.requirements,
            readme=saved.readme,
        )


def e_tag_of(flow: Flow) -> str:
    """Differs with each save and request, and with nothing that the servers note for themselves."""
    return f"{flow.key.hex}-{flow.version}-{flow.requested_status.value}"


def _described(flow: Flow, wanted: IntegrationFlow, files: list[FlowFile]) -> Flow:
    return msgspec.structs.replace(
        flow,
        project=wanted.project,
        flow_spec=wanted.flow_spec or "",
        variables=wanted.variables,
        category=wanted.category,
        labels=wanted.labels,
        integration_files=files,
        additional_packages=wanted.additional_packages,
        requirements=wanted.requirements or [],
        readme=wanted.readme,
    )
