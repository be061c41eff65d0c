"""What is done with definitions of events."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from penstock.areas.eventing.data_schema import DataSchema
from penstock.areas.eventing.model import CloudEventDefinition, CloudEventDefinitionEntity
from penstock.areas.eventing.routing_table import RoutingTable
from penstock.areas.eventing.stored import DEFINITIONS, digest
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, NameTaken, NotFound, Stale
from penstock.protocol.cloudevent import JSON_MEDIA, SPEC_VERSION, is_absolute_uri, is_json, text_problem
from penstock.resource.answer import Encoded
from penstock.resource.changes import Changes
from penstock.resource.resource import Resource
from penstock.store.store import Store

_MOST_TAGS = 100
_LONGEST_TAG = 256


class DefinitionService:
    """Definitions are known by type, source and version: saving one that exists changes it."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, table: RoutingTable) -> None:
        self._definitions = Resource(DEFINITIONS, store, changes, clock, kind="event definition", label="type")
        self._table = table

    async def all(self) -> list[CloudEventDefinition]:
        """Newest first."""
        return [entity.definition for entity in await self._definitions.decoded() if entity.definition is not None]

    async def entities(self) -> Encoded[list[CloudEventDefinitionEntity]]:
        """Newest first."""
        return await self._definitions.all()

    async def decoded(self) -> list[CloudEventDefinitionEntity]:
        return await self._definitions.decoded()

    async def read(self, id: UUID) -> Encoded[CloudEventDefinitionEntity]:
        """Raises NotFound."""
        return await self._definitions.read(id)

    async def get(self, id: UUID) -> CloudEventDefinitionEntity:
        """Raises NotFound."""
        return await self._definitions.get(id)

    async def save(
        self, definition: CloudEventDefinition, actor: Actor, if_match: str | None = None
    ) -> CloudEventDefinition:
        """Makes or changes a definition. Raises Invalid, Stale."""
        complete = _complete(definition)
        try:
            await self._save(complete, actor, if_match)
        except NameTaken:
            await self._save(complete, actor, if_match)  # another one has made it meanwhile
        self._table.invalidate(DEFINITIONS.name)
        return complete

    async def delete(
        self, type: str, source: str, spec_version: str, actor: Actor, if_match: str | None = None
    ) -> None:
        """Raises NotFound, Stale."""
        entity = await self._find(type, source, spec_version)
        if entity is None:
            raise NotFound.of("event definition", f"{type} {source} {spec_version}")
        await self._definitions.delete(entity, actor, if_match)
        self._table.invalidate(DEFINITIONS.name)

    async def _save(self, definition: CloudEventDefinition, actor: Actor, if_match: str | None) -> None:
        before = await self._find(definition.type or "", definition.source or "", definition.spec_version or "")
        entity = _with(before or CloudEventDefinitionEntity(), definition)
        if before is None:
            if if_match:
                raise Stale
            await self._definitions.create(entity, actor)
        elif if_match and if_match != before.e_tag:
            raise Stale
        elif entity != before:
            await self._definitions.change(before.key, lambda stored: _with(stored, definition), actor, if_match)

    async def _find(self, type: str, source: str, spec_version: str) -> CloudEventDefinitionEntity | None:
        return await self._definitions.find("event", digest([type, source, spec_version]))


def _with(entity: CloudEventDefinitionEntity, definition: CloudEventDefinition) -> CloudEventDefinitionEntity:
    return msgspec.structs.replace(entity, definition=definition, **msgspec.structs.asdict(definition))


def _complete(definition: CloudEventDefinition) -> CloudEventDefinition:
    """The definition with its defaults. Raises Invalid."""
    complete = msgspec.structs.replace(
        definition,
        spec_version=definition.spec_version or SPEC_VERSION,
        data_content_type=definition.data_content_type or JSON_MEDIA,
        tags=definition.tags or [],
    )
    errors = [*_text_errors(complete), *_data_errors(complete), *_tag_errors(complete.tags or [])]
    if errors:
        raise Invalid(errors)
    return complete


def _text_errors(definition: CloudEventDefinition) -> Sequence[FieldError]:
    texts = {
        "Type": definition.type,
        "Source": definition.source,
        "SpecVersion": definition.spec_version,
        "DataContentType": definition.data_content_type,
    }
    problems = {field: text_problem(text) if text else "is required" for field, text in texts.items()}
    return [FieldError(field, problem) for field, problem in problems.items() if problem]


def _data_errors(definition: CloudEventDefinition) -> Sequence[FieldError]:
    errors: list[FieldError] = []
    if definition.data_schema_uri and not is_absolute_uri(definition.data_schema_uri):
        errors.append(FieldError("DataSchemaUri", "must be an absolute URI"))
    if definition.data_schema:
        if not is_json(definition.data_content_type):
            errors.append(FieldError("DataContentType", "must be JSON where there is a DataSchema"))
        try:
            DataSchema(definition.data_schema)
        except Invalid as error:
            errors += error.errors
    return errors


def _tag_errors(tags: Sequence[str]) -> Sequence[FieldError]:
    if len(tags) > _MOST_TAGS:
        return [FieldError("Tags", f"must be at most {_MOST_TAGS}")]
    problems = [text_problem(tag, _LONGEST_TAG) for tag in tags]
    return [FieldError(f"Tags[{index}]", problem) for index, problem in enumerate(problems) if problem]
