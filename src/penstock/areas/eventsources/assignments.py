"""Event sources as work of agents."""

import structlog

from penstock.areas.eventsources.instances import InstanceService
from penstock.areas.eventsources.known_kinds import KnownKinds
from penstock.areas.eventsources.stored import CATALOGS, INSTANCES, UNMATCHED_SOURCES, SourceInstance
from penstock.kernel.errors import Invalid
from penstock.kernel.wire import encode
from penstock.protocol import subjects
from penstock.protocol.event_source import SourceItem, SourcePackage
from penstock.resource.assignments import Assignable, AssignmentBody, AssignmentParts, Assignments
from penstock.resource.coverage import AssignmentCoverage
from penstock.resource.secrets import SecretUnreadable

log = structlog.get_logger(__name__)


class SourceAssignments(Assignments[SourceInstance]):
    """Agents get them with the secrets in their configurations."""

    kind = subjects.SOURCES
    noun = "event source"
    collection = INSTANCES
    upstream = (CATALOGS.name,)

    def __init__(self, parts: AssignmentParts, instances: InstanceService, kinds: KnownKinds) -> None:
        super().__init__(parts)
        self._instances = instances
        self._kinds = kinds

    def assignable(self, entity: SourceInstance) -> Assignable:
        return Assignable(entity.key, entity.name, entity.stamp, entity.requirements, entity.references)

    async def refresh(self) -> None:
        await self._kinds.refresh()

    def gives(self, entity: SourceInstance) -> bool:
        """Not one whose kind is gone."""
        try:
            self._kinds.known_source(entity.type, entity.version)
        except Invalid:
            return False
        return True

    async def body(self, entity: SourceInstance) -> AssignmentBody | None:
        """None when the kind is gone, or the secrets cannot be read."""
        try:
            registered = await self._kinds.source(entity.type, entity.version)
            configured = await self._instances.configured(entity)
        except (Invalid, SecretUnreadable) as error:
            log.error("event source cannot be given to agents", source=entity.name, reason=error.detail)
            return None
        package = SourcePackage(name=registered.package, version=registered.package_version)
        item = SourceItem(
            name=entity.name,
            type=entity.type,
            version=entity.version,
            configuration=encode(configured.opened()).decode(),
            requires_polling=configured.kind.requires_polling,
            stateful=configured.kind.stateful,
            shared=configured.kind.shared,
            frequency=entity.frequency,
            cron=entity.cron,
            variables=entity.variables,
            package=package if registered.packaged else None,
            schema=encode(configured.kind.schema()).decode() if registered.packaged else None,
        )
        return AssignmentBody(item, has_secrets=bool(configured.secrets))


class SourceCoverage(AssignmentCoverage):
    """Event sources that no agent runs."""

    notes = UNMATCHED_SOURCES

    def __init__(self, parts: AssignmentParts, assignments: SourceAssignments) -> None:
        super().__init__(parts, assignments)
