"""What is done with notebooks."""

from uuid import UUID

import msgspec

from penstock.areas.notebooks.model import NOTEBOOKS, NewNotebookDto, NotebookEntity
from penstock.engine.documents.analysis import analyze_apart
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid
from penstock.resource.changes import Changes
from penstock.resource.ports.runs import Runs
from penstock.resource.ports.scripts import ScriptUses
from penstock.resource.resource import Resource
from penstock.resource.script_service import Code, ScriptService, script_name_errors
from penstock.store.store import Store

_LONGEST_NAME = 255


class NotebookService(ScriptService[NotebookEntity]):
    """Contents are kept as they came; those that cannot be read are refused."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, runs: Runs, uses: ScriptUses) -> None:
        super().__init__(Resource(NOTEBOOKS, store, changes, clock, kind="notebook", label="file_name"), runs, uses)

    def code(self, entity: NotebookEntity) -> Code:
        name = entity.file_name or ""
        return Code(name, entity.content or "", file_name=name)

    async def create(self, wanted: NewNotebookDto, actor: Actor) -> NotebookEntity:
        """Raises Invalid, NameTaken."""
        errors = script_name_errors("FileName", wanted.file_name, _LONGEST_NAME)
        if wanted.content is None:
            errors.append(FieldError("Content", "is required"))
        if errors:
            raise Invalid(errors)
        await analyze_apart(wanted.content or "", wanted.file_name, field="Content")
        return await self._resource.create(NotebookEntity(file_name=wanted.file_name, content=wanted.content), actor)

    async def save(self, id: UUID, content: str, actor: Actor, if_match: str | None) -> NotebookEntity:
        """Raises Invalid, NotFound, Stale."""
        notebook = await self._resource.get(id)
        await analyze_apart(content, notebook.file_name)
        return await self._resource.change(
            id, lambda before: msgspec.structs.replace(before, content=content), actor, if_match
        )
