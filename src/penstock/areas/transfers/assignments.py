"""File transfers as work of agents."""

from collections.abc import Mapping
from dataclasses import replace

import structlog

from penstock.areas.transfers.model import MftStorage
from penstock.areas.transfers.stored import MFTS, UNMATCHED_MFTS, Mft
from penstock.connectors.reference import names_in
from penstock.kernel.names import name_key
from penstock.protocol import subjects
from penstock.protocol.transfer import TransferItem, TransferSide
from penstock.resource.assignments import Assignable, AssignmentBody, AssignmentParts, Assignments
from penstock.resource.coverage import AssignmentCoverage
from penstock.resource.ports.core_systems import CoreSystems, KnownCoreSystem
from penstock.resource.secrets import SecretUnreadable

log = structlog.get_logger(__name__)

_CORE_SYSTEMS = "core_systems"


class TransferAssignments(Assignments[Mft]):
    """Agents get them with the variables of their core systems, secrets included."""

    kind = subjects.TRANSFERS
    noun = "file transfer"
    collection = MFTS
    upstream = (_CORE_SYSTEMS,)

    def __init__(self, parts: AssignmentParts, systems: CoreSystems) -> None:
        super().__init__(parts)
        self._systems = systems
        self._known: Mapping[str, KnownCoreSystem] = {}

    def assignable(self, entity: Mft) -> Assignable:
        return Assignable(entity.key, entity.name, entity.e_tag or "", entity.requirements)

    async def refresh(self) -> None:
        """Reads the core systems that transfers name."""
        mfts = await self.entities()
        names = {name_key(each.name or "") for mft in mfts for each in (mft.source, mft.destination)}
        known: dict[str, KnownCoreSystem] = {}
        for name in names:
            try:
                system = await self._systems.known(name)
            except SecretUnreadable as error:
                log.error("core system cannot be given to agents", system=name, reason=error.detail)
                continue
            if system is not None and system.is_storage:
                known[name] = system
        self._known = known

    def current(self, assignable: Assignable, entity: Mft) -> Assignable:
        """A core system that changes gives its transfers another stamp."""
        systems = [self._system(entity.source), self._system(entity.destination)]
        tags = [system.e_tag if system is not None else "" for system in systems]
        named = [system.variables for system in systems if system is not None]
        references = names_in([*named, entity.source.path, entity.destination.path])
        return replace(assignable, stamp=" ".join([assignable.stamp, *tags]), references=references)

    def gives(self, entity: Mft) -> bool:
        """Not one whose core systems are gone."""
        return self._system(entity.source) is not None and self._system(entity.destination) is not None

    async def body(self, entity: Mft) -> AssignmentBody | None:
        """None when a core system is gone, or its secrets cannot be read."""
        source, destination = self._side(entity.source), self._side(entity.destination)
        if source is None or destination is None:
            log.warning("file transfer cannot be given to agents: a core system is gone", transfer=entity.name)
            return None
        item = TransferItem(
            name=entity.name,
            version=entity.version,
            requested=entity.requested_status,
            since=entity.since,
            command=entity.command,
            source=source,
            destination=destination,
            schedule=entity.schedule,
            run=entity.order,
            force=entity.force,
            args=entity.args or "",
            filters=entity.filters or "",
            variables=entity.variables,
        )
        systems = (self._system(entity.source), self._system(entity.destination))
        return AssignmentBody(item, has_secrets=any(each and each.variables != each.shown for each in systems))

    def _system(self, storage: MftStorage) -> KnownCoreSystem | None:
        return self._known.get(name_key(storage.name or ""))

    def _side(self, storage: MftStorage) -> TransferSide | None:
        system = self._system(storage)
        if system is None:
            return None
        return TransferSide(
            name=system.name, type=system.type or "", variables=dict(system.variables), path=storage.path or ""
        )


class TransferCoverage(AssignmentCoverage):
    """File transfers that no agent runs."""

    notes = UNMATCHED_MFTS

    def __init__(self, parts: AssignmentParts, assignments: TransferAssignments) -> None:
        super().__init__(parts, assignments)
