"""The versions of a flow: each save as it was, found again by its number."""

from datetime import datetime
from uuid import UUID

from penstock.areas.flows.model import Flow
from penstock.kernel.errors import NotFound
from penstock.kernel.wire import Map, Wire
from penstock.protocol.capability import Requirement
from penstock.protocol.work import FlowFile
from penstock.store.definition import Column, Journal
from penstock.store.store import Store, Where, decode
from penstock.store.write import Append


class SavedFlow(Wire):
    """What one save made of a flow, as it is kept."""

    flow_id: UUID
    version: str
    at: datetime
    by: str | None = None
    name: str
    project: str | None = None
    flow_spec: str = ""
    variables: Map | None = None
    category: str | None = None
    labels: list[str] | None = None
    integration_files: list[FlowFile] | None = None
    additional_packages: str | None = None
    requirements: list[Requirement] = []
    readme: str | None = None


class FlowVersionDto(Wire):
    """One version in the list of a flow's versions. IsCurrent: it is what the flow is now."""

    version: str
    saved: datetime
    saved_by: str | None = None
    is_current: bool = False


FLOW_VERSIONS: Journal[SavedFlow] = Journal(
    "flow_versions",
    SavedFlow,
    at=lambda saved: saved.at,
    key=lambda saved: f"{saved.flow_id}/{saved.version}",
    columns=(Column("flow_id", lambda saved: str(saved.flow_id)),),
)


class FlowVersions:
    """The journal of versions. Those of a flow that was deleted stay, under the id that it had."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def plan_keep(self, flow: Flow) -> Append:
        """The write that keeps the flow as it is stored now."""
        saved = SavedFlow(
            flow_id=flow.key,
            version=flow.version,
            at=flow.since,
            by=flow.updated_by,
            name=flow.name,
            project=flow.project,
            flow_spec=flow.flow_spec,
            variables=flow.variables,
            category=flow.category,
            labels=flow.labels,
            integration_files=flow.integration_files,
            additional_packages=flow.additional_packages,
            requirements=flow.requirements,
            readme=flow.readme,
        )
        return Append(FLOW_VERSIONS, [saved])

    async def of(self, flow: Flow, count: int, skip: int) -> list[FlowVersionDto]:
        """The latest first."""
        where = [Where("flow_id", "=", str(flow.key))]
        bodies = await self._store.entries(FLOW_VERSIONS, where, skip=skip, limit=count)
        return [_shown(decode(body, SavedFlow), flow.version) for body in bodies]

    async def get(self, flow: Flow, version: str) -> SavedFlow:
        """Raises NotFound."""
        body = await self._store.entry(FLOW_VERSIONS, f"{flow.key}/{version}") if version.isdecimal() else None
        if body is None:
            raise NotFound(f"flow '{flow.name}' has no version '{version}'")
        return decode(body, SavedFlow)


def _shown(saved: SavedFlow, current: str) -> FlowVersionDto:
    return FlowVersionDto(version=saved.version, saved=saved.at, saved_by=saved.by, is_current=saved.version == current)
