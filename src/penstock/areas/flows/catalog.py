"""All flows, in memory: enough of each to tell whose work it is, not its text."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from penstock.areas.flows.model import FLOWS, Flow
from penstock.flow.parsing.references import variables_in
from penstock.kernel.names import name_key
from penstock.protocol.work import IntegrationStatusEnum2
from penstock.resource.matching import Needs, needs_of, told
from penstock.resource.mirror import Mirror
from penstock.store.store import Store, Where, decode


class FlowEntry(msgspec.Struct, frozen=True):
    """What the catalog holds of a flow. variables: those that it refers to, compared as names are.

    files: the hashes of their contents.
    """

    id: UUID
    name: str
    project: str | None
    category: str | None
    labels: list[str] | None
    additional_packages: str | None
    version: str
    stamp: str
    since: datetime
    requested: IntegrationStatusEnum2
    needs: Needs
    needs_told: str
    variables: frozenset[str]
    files: frozenset[str]
    schedule: str | None
    unmatched_since: datetime | None
    matched_since: datetime

    @property
    def is_started(self) -> bool:
        return self.requested is IntegrationStatusEnum2.STARTED


class FlowCatalog:
    """The flows of the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._mirror = Mirror(store, FLOWS, _entry)
        self._by_id: Mapping[UUID, FlowEntry] = {}
        self._by_name: Sequence[FlowEntry] = ()
        self._by_key: Mapping[str, FlowEntry] = {}
        self._needs: frozenset[Needs] = frozenset()
        self._work: dict[frozenset[Needs], Sequence[FlowEntry]] = {}

    async def flows(self) -> Sequence[FlowEntry]:
        """Every flow as stored now, by name."""
        await self._refresh()
        return self._by_name

    async def met_by(self, meets: Callable[[Needs], bool]) -> Sequence[FlowEntry]:
        """Every flow whose needs are met, as stored now, by name. Agents that meet the same share one list."""
        await self._refresh()
        met = frozenset(needs for needs in self._needs if meets(needs))
        if met not in self._work:
            self._work[met] = [entry for entry in self._by_name if entry.needs in met]
        return self._work[met]

    async def named(self, names: Iterable[str]) -> Mapping[str, FlowEntry]:
        """Those of the names that exist now, by the name's key."""
        await self._refresh()
        keys = {name_key(name) for name in names}
        return {key: self._by_key[key] for key in keys if key in self._by_key}

    async def stored(self, names: Sequence[str]) -> Mapping[str, Flow]:
        """Whole flows, by the name's key."""
        if not names:
            return {}
        documents = await self._store.list(FLOWS, [Where("name", "in", names)], limit=len(names))
        flows = [decode(document.body, Flow) for document in documents]
        return {name_key(flow.name): flow for flow in flows}

    async def _refresh(self) -> None:
        by_id = await self._mirror.current()
        if by_id is not self._by_id:
            self._by_id = by_id
            self._by_name = sorted(by_id.values(), key=lambda entry: name_key(entry.name))
            self._by_key = {name_key(entry.name): entry for entry in self._by_name}
            self._needs = frozenset(entry.needs for entry in self._by_name)
            self._work = {}


def _entry(flow: Flow) -> FlowEntry:
    texts = [flow.flow_spec, *(value for value in (flow.variables or {}).values() if isinstance(value, str))]
    return FlowEntry(
        id=flow.key,
        name=flow.name,
        project=flow.project,
        category=flow.category,
        labels=flow.labels,
        additional_packages=flow.additional_packages,
        version=flow.version,
        stamp=flow.stamp,
        since=flow.since,
        requested=flow.requested_status,
        needs=needs_of(flow.requirements),
        needs_told=told(flow.requirements),
        variables=frozenset(name_key(name) for text in texts for name in variables_in(text)),
        files=frozenset(file.sha256 for file in flow.integration_files or ()),
        schedule=flow.schedule,
        unmatched_since=flow.unmatched_since,
        matched_since=flow.matched_since,
    )
