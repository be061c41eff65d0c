"""Operations on notebooks."""

from uuid import UUID

from penstock.areas.notebooks.model import NewNotebookDto, NotebookEntity, RunNotebookRequest
from penstock.areas.notebooks.service import NotebookService
from penstock.engine.documents.wire_form import DibAnalyzationResult, analyzation_result
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import Encoded, File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch
from penstock.resource.ports.runs import RunParameter, RunTrigger
from penstock.resource.run_values import file_of
from penstock.resource.script_run import ScriptRun, shown_run


class NotebookOperations:
    """Documents that run."""

    def __init__(self, service: NotebookService) -> None:
        self._service = service

    @operation("GET", "/automation/notebook/{id}", Role.READER)
    async def get(self, id: UUID) -> Encoded[NotebookEntity]:
        """Get a notebook; its Content is byte for byte what was saved."""
        return await self._service.read(id)

    @operation("DELETE", "/automation/notebook/{id}", Role.OPERATOR)
    async def delete(self, id: UUID, actor: Actor, if_match: IfMatch) -> File:
        """Delete a notebook. Its runs in progress go on.

        One that schedules or endpoints run answers 409, naming them.
        """
        await self._service.delete(id, actor, if_match)
        return File()

    @operation("PUT", "/automation/notebook/{id}", Role.OPERATOR)
    async def save(self, id: UUID, new_content: Body[str], actor: Actor, if_match: IfMatch) -> NotebookEntity:
        """Replace the content of a notebook."""
        return await self._service.save(id, new_content, actor, if_match)

    @operation("GET", "/automation/notebook", Role.READER)
    async def list_notebooks(self) -> Encoded[list[NotebookEntity]]:
        """List notebooks, newest first."""
        return await self._service.all()

    @operation("POST", "/automation/notebook", Role.OPERATOR)
    async def create(self, notebook: Body[NewNotebookDto], actor: Actor) -> NotebookEntity:
        """Create a notebook: .dib, .ipynb, or .py in percent form. A taken FileName answers 409."""
        return await self._service.create(notebook, actor)

    @operation("GET", "/automation/notebook/{id}/analyze", Role.READER)
    async def analyze(self, id: UUID) -> DibAnalyzationResult:
        """Tell the parameters of a notebook and the type of its result, without running it."""
        return analyzation_result(await self._service.analysis(id))

    @operation("POST", "/automation/notebook/{id}/run", Role.OPERATOR)
    async def run(self, id: UUID, request: Body[RunNotebookRequest], actor: Actor) -> File:
        """Run a notebook in kernels of its own; answers its last result in its media type, or what it printed.

        See the run of an action, also for the header Penstock-Run. The run goes on when the caller leaves; the history
        has its end.
        """
        given = [RunParameter(name=p.name, value_json=p.value_json) for p in request.parameters or []]
        run = await self._service.start(id, given, RunTrigger(request.trigger_type, request.trigger_id), actor)
        return file_of(run.id, await run.answer(request.preferred_format))

    @operation("GET", "/automation/notebook/{id}/history", Role.READER, beyond=True)
    async def history(self, id: UUID) -> list[ScriptRun]:
        """List the runs of a notebook in the last 30 days, newest first, at most 1,000."""
        return [shown_run(run) for run in await self._service.runs(id)]
