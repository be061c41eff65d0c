"""What is done with actions."""

from contextlib import suppress
from uuid import UUID

import msgspec

from penstock.areas.actions.model import (
    ACTIONS,
    ActionEntity,
    ActionExecutionEntity,
    ActionParameterTypeNameAndName,
    NewActionDto,
)
from penstock.engine.documents.analysis import Analysis, analyze_apart
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.entity import Entity
from penstock.kernel.errors import FieldError, Invalid
from penstock.resource.changes import Changes
from penstock.resource.ports.runs import RecordedRun, Runs
from penstock.resource.ports.scripts import ScriptUses
from penstock.resource.resource import Resource
from penstock.resource.script_parameters import ActionParameter
from penstock.resource.script_service import Code, ScriptService, script_name_errors
from penstock.store.store import Store

_LONGEST_NAME = 128


class ActionService(ScriptService[ActionEntity]):
    """Parameters are inferred from the content whenever it is saved."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, runs: Runs, uses: ScriptUses) -> None:
        super().__init__(Resource(ACTIONS, store, changes, clock, kind="action"), runs, uses)

    def code(self, entity: ActionEntity) -> Code:
        return Code(entity.name or "", entity.content or "")

    async def find(self, name: str) -> ActionEntity:
        """The name is compared without case. Raises NotFound."""
        return await self._resource.named(name)

    async def create(self, wanted: NewActionDto, actor: Actor) -> ActionEntity:
        """Raises Invalid, NameTaken."""
        errors = script_name_errors("Name", wanted.name, _LONGEST_NAME)
        if not wanted.content:
            errors.append(FieldError("Content", "is required"))
        if errors:
            raise Invalid(errors)
        analysis = await analyze_apart(wanted.content or "", field="Content")
        return await self._resource.create(_with(ActionEntity(name=wanted.name), analysis), actor)

    async def save(self, id: UUID, content: str, actor: Actor, if_match: str | None) -> ActionEntity:
        """Raises Invalid, NotFound, Stale."""
        if not content:
            raise Invalid.one("", "the content of an action is not empty")
        await self._resource.get(id)
        analysis = await analyze_apart(content)
        return await self._resource.change(id, lambda before: _with(before, analysis), actor, if_match)

    async def history(self, id: UUID) -> list[ActionExecutionEntity]:
        """The newest first, at most 1,000. Raises NotFound."""
        return [_execution(run) for run in await self.runs(id)]


def _with(action: ActionEntity, analysis: Analysis) -> ActionEntity:
    return msgspec.structs.replace(
        action,
        content=analysis.source,
        parameters=[ActionParameterTypeNameAndName(type_name=p.type, name=p.name) for p in analysis.parameters],
        default_parameter_values=[
            ActionParameter(name=p.name, value_json=p.default) for p in analysis.parameters if p.default is not None
        ],
    )


def _execution(run: RecordedRun) -> ActionExecutionEntity:
    trigger_id = None
    with suppress(ValueError):
        trigger_id = UUID(run.trigger_id or "")
    base = {name: getattr(run, name) for name in run.__struct_fields__ if name in _BASE}
    return ActionExecutionEntity(
        **base,
        action_id=run.script_id,
        action_name=run.script_name,
        received_parameters=[ActionParameter(name=p.name, value_json=p.value_json) for p in run.received],
        parameters=[ActionParameter(name=p.name, value_json=p.value_json) for p in run.parameters],
        status_code=run.status_code,
        duration=run.duration,
        trigger_id=trigger_id,
        error=run.error,
        finished=run.finished,
    )


_BASE = frozenset(Entity.__struct_fields__)
