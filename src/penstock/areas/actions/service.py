"""What is done with actions."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
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
from penstock.resource.answer import Encoded
from penstock.resource.changes import Changes
from penstock.resource.ports.runs import AcceptedRun, RecordedRun, RunParameter, Runs, RunTrigger, Script
from penstock.resource.ports.scripts import KnownScript, ScriptUses
from penstock.resource.resource import Resource
from penstock.resource.run_values import check_unused, declared, run_values
from penstock.resource.script_parameters import ActionParameter
from penstock.store.store import Store

_LONGEST_NAME = 128


class ActionService:
    """Parameters are inferred from the content whenever it is saved."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, runs: Runs, uses: ScriptUses) -> None:
        self._actions = Resource(ACTIONS, store, changes, clock, kind="action")
        self._runs = runs
        self._uses = uses

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
        """Raises NotFound, Stale, InUse when triggers run it."""
        action = await self._actions.get(id)
        check_unused(await self._uses.users(id))
        await self._actions.delete(action, actor, if_match)

    async def history(self, id: UUID) -> list[ActionExecutionEntity]:
        """The newest first, at most 1,000. Raises NotFound."""
        await self._actions.get(id)
        return [_execution(run) for run in await self._runs.history(id)]

    async def known(self, id: UUID) -> KnownScript:
        """See resource.ports.scripts.Scripts."""
        action = await self._actions.get(id)
        return KnownScript(id, action.name or "", declared(await analyze_apart(action.content or "")))

    async def start(
        self,
        id: UUID,
        parameters: Sequence[RunParameter],
        trigger: RunTrigger,
        actor: Actor,
        run_id: UUID | None = None,
    ) -> AcceptedRun:
        """See resource.ports.scripts.Scripts."""
        action = await self._actions.get(id)
        values = run_values(await analyze_apart(action.content or ""), parameters)
        return await self._runs.accept(_script(action, parameters, values), trigger, actor, run_id)

    async def refuse(
        self,
        id: UUID,
        parameters: Sequence[RunParameter],
        trigger: RunTrigger,
        actor: Actor,
        reason: str,
        run_id: UUID | None = None,
    ) -> None:
        """See resource.ports.scripts.Scripts."""
        script = _script(await self._actions.get(id), parameters, {})
        await self._runs.refuse(script, trigger, actor, reason, run_id)


def _script(action: ActionEntity, received: Sequence[RunParameter], values: Mapping[str, Any]) -> Script:
    return Script(action.key, action.name or "", action.content or "", values, received)


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
