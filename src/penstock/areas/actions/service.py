"""What is done with actions."""

from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

import msgspec

from penstock.areas.actions.model import (
    ACTIONS,
    ActionEntity,
    ActionExecutionEntity,
    ActionParameter,
    ActionParameterTypeNameAndName,
    NewActionDto,
)
from penstock.engine.documents.analysis import Analysis, analyze_apart
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.entity import Entity
from penstock.kernel.errors import FieldError, Invalid
from penstock.resource.answer import Encoded
from penstock.resource.changes import Changes
from penstock.resource.ports import (
    AcceptedRun,
    DeclaredParameter,
    RecordedRun,
    RunParameter,
    Runs,
    RunTrigger,
    Script,
)
from penstock.resource.resource import Resource
from penstock.resource.run_values import declared, run_values
from penstock.store.store import Store

_LONGEST_NAME = 128


class ActionService:
    """Parameters are inferred from the content whenever it is saved."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, runs: Runs) -> None:
        self._actions = Resource(ACTIONS, store, changes, clock, kind="action")
        self._runs = runs

    async def all(self) -> Encoded[list[ActionEntity]]:
        """Newest first."""
        return await self._actions.all()

    async def read(self, id: UUID) -> Encoded[ActionEntity]:
        """Raises NotFound."""
        return await self._actions.read(id)

    async def find(self, name: str) -> ActionEntity:
        """The name is compared without case. Raises NotFound."""
        return await self._actions.named(name)

    async def create(self, wanted: NewActionDto, actor: Actor) -> ActionEntity:
        """Raises Invalid, NameTaken."""
        errors = _name_errors(wanted.name)
        if not wanted.content:
            errors.append(FieldError("Content", "is required"))
        if errors:
            raise Invalid(errors)
        analysis = await analyze_apart(wanted.content or "", field="Content")
        return await self._actions.create(_with(ActionEntity(name=wanted.name), analysis), actor)

    async def save(self, id: UUID, content: str, actor: Actor, if_match: str | None) -> ActionEntity:
        """Raises Invalid, NotFound, Stale."""
        if not content:
            raise Invalid.one("", "the content of an action is not empty")
        await self._actions.get(id)
        analysis = await analyze_apart(content)
        return await self._actions.change(id, lambda before: _with(before, analysis), actor, if_match)

    async def delete(self, id: UUID, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale."""
        await self._actions.delete(await self._actions.get(id), actor, if_match)

    async def history(self, id: UUID) -> list[ActionExecutionEntity]:
        """The newest first, at most 1,000. Raises NotFound."""
        await self._actions.get(id)
        return [_execution(run) for run in await self._runs.history(id)]

    async def parameters(self, id: UUID) -> Sequence[DeclaredParameter]:
        """See resource.ports.Actions."""
        action = await self._actions.get(id)
        return declared(await analyze_apart(action.content or ""))

    async def start(
        self, id: UUID, parameters: Sequence[RunParameter], trigger: RunTrigger, actor: Actor
    ) -> AcceptedRun:
        """See resource.ports.Actions."""
        action = await self._actions.get(id)
        content = action.content or ""
        values = run_values(await analyze_apart(content), parameters)
        script = Script(id, action.name or "", content, values, parameters)
        return await self._runs.accept(script, trigger, actor)


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


def _name_errors(name: str | None) -> list[FieldError]:
    if not name or not name.strip():
        return [FieldError("Name", "is required")]
    if len(name) > _LONGEST_NAME or not name.isprintable():
        return [FieldError("Name", f"must be at most {_LONGEST_NAME} printable characters")]
    return []
