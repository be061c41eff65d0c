"""What is done with notebooks."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from penstock.areas.notebooks.model import (
    NOTEBOOKS,
    NewNotebookDto,
    NotebookEntity,
    NotebookRun,
)
from penstock.engine.documents.analysis import Analysis, analyze_apart
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid
from penstock.resource.answer import Encoded
from penstock.resource.changes import Changes
from penstock.resource.ports.runs import AcceptedRun, RecordedRun, RunParameter, Runs, RunTrigger, Script
from penstock.resource.ports.scripts import KnownScript, ScriptUses
from penstock.resource.resource import Resource
from penstock.resource.run_values import check_unused, declared, run_values
from penstock.resource.script_parameters import RunNotebookParameter
from penstock.store.store import Store

_LONGEST_NAME = 255


class NotebookService:
    """Contents are kept as they came; those that cannot be read are refused."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, runs: Runs, uses: ScriptUses) -> None:
        self._notebooks = Resource(NOTEBOOKS, store, changes, clock, kind="notebook", label="file_name")
        self._runs = runs
        self._uses = uses

    async def all(self) -> Encoded[list[NotebookEntity]]:
        """Newest first."""
        return await self._notebooks.all()

    async def read(self, id: UUID) -> Encoded[NotebookEntity]:
        """Raises NotFound."""
        return await self._notebooks.read(id)

    async def create(self, wanted: NewNotebookDto, actor: Actor) -> NotebookEntity:
        """Raises Invalid, NameTaken."""
        errors = _name_errors(wanted.file_name)
        if wanted.content is None:
            errors.append(FieldError("Content", "is required"))
        if errors:
            raise Invalid(errors)
        await analyze_apart(wanted.content or "", wanted.file_name, field="Content")
        return await self._notebooks.create(NotebookEntity(file_name=wanted.file_name, content=wanted.content), actor)

    async def save(self, id: UUID, content: str, actor: Actor, if_match: str | None) -> NotebookEntity:
        """Raises Invalid, NotFound, Stale."""
        notebook = await self._notebooks.get(id)
        await analyze_apart(content, notebook.file_name)
        return await self._notebooks.change(
            id, lambda before: msgspec.structs.replace(before, content=content), actor, if_match
        )

    async def delete(self, id: UUID, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale, InUse when schedules or endpoints run it."""
        notebook = await self._notebooks.get(id)
        check_unused(await self._uses.users(id))
        await self._notebooks.delete(notebook, actor, if_match)

    async def analyze(self, id: UUID) -> Analysis:
        """Raises NotFound."""
        return await _analysis(await self._notebooks.get(id))

    async def history(self, id: UUID) -> list[NotebookRun]:
        """The newest first, at most 1,000. Raises NotFound."""
        await self._notebooks.get(id)
        return [_shown(run) for run in await self._runs.history(id)]

    async def known(self, id: UUID) -> KnownScript:
        """See resource.ports.scripts.Scripts."""
        notebook = await self._notebooks.get(id)
        return KnownScript(id, notebook.file_name or "", declared(await _analysis(notebook)))

    async def start(
        self,
        id: UUID,
        parameters: Sequence[RunParameter],
        trigger: RunTrigger,
        actor: Actor,
        run_id: UUID | None = None,
    ) -> AcceptedRun:
        """See resource.ports.scripts.Scripts."""
        notebook = await self._notebooks.get(id)
        values = run_values(await _analysis(notebook), parameters)
        return await self._runs.accept(_script(notebook, parameters, values), trigger, actor, run_id)

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
        script = _script(await self._notebooks.get(id), parameters, {})
        await self._runs.refuse(script, trigger, actor, reason, run_id)


def _script(notebook: NotebookEntity, received: Sequence[RunParameter], values: Mapping[str, Any]) -> Script:
    name = notebook.file_name or ""
    return Script(notebook.key, name, notebook.content or "", values, received, file_name=name)


async def _analysis(notebook: NotebookEntity) -> Analysis:
    return await analyze_apart(notebook.content or "", notebook.file_name)


def _shown(run: RecordedRun) -> NotebookRun:
    return NotebookRun(
        id=run.key,
        started=run.created_date,
        started_by=run.created_by,
        parameters=[RunNotebookParameter(name=p.name, value_json=p.value_json) for p in run.parameters],
        trigger_type=run.trigger,
        trigger_id=run.trigger_id,
        finished=run.finished,
        status_code=run.status_code,
        duration=run.duration,
        error=run.error,
    )


def _name_errors(name: str | None) -> list[FieldError]:
    if not name or not name.strip():
        return [FieldError("FileName", "is required")]
    if len(name) > _LONGEST_NAME or not name.isprintable():
        return [FieldError("FileName", f"must be at most {_LONGEST_NAME} printable characters")]
    return []
