"""Operations of the interactive engine."""

from urllib.parse import quote

from penstock.areas.interactive.model import (
    ExecuteDibRequest,
    ExecuteRequest,
    ExecuteResult,
    GetSuggestionsRequest,
    Suggestion,
)
from penstock.areas.interactive.service import InteractiveService
from penstock.engine.documents.wire_form import DibAnalyzationResult, analyzation_result
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import EventStream, File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body
from penstock.resource.ports.runs import RunFile
from penstock.resource.run_files import RunFiles

_MOST_NAMED = 20


class InteractiveOperations:
    """Code and documents that run at once, for an editor."""

    def __init__(self, service: InteractiveService, files: RunFiles) -> None:
        self._service = service
        self._files = files

    @operation("POST", "/interactive/engine/run", Role.OPERATOR)
    async def run(self, request: Body[ExecuteRequest], actor: Actor) -> list[ExecuteResult]:
        """Run code in the kernels of a notebook, which keeps them for a while; answers its outputs.

        Lines such as `#!python` choose a kernel. An error of the code, or a limit it went over, is the last output, of
        type `application/vnd.code.notebook.error`. Files that the code left in its folder follow as outputs of type
        `application/vnd.penstock.file+json`.
        """
        return await self._service.run(request, actor)

    @operation("POST", "/interactive/engine/run/stream", Role.OPERATOR, beyond=True)
    async def run_streamed(self, request: Body[ExecuteRequest], actor: Actor) -> EventStream:
        """Run code in the kernels of a notebook and answer each output while it runs, as server-sent events.

        Events are `output`, with an ExecuteResult, and at last `end`, with Error and Duration. A caller who leaves
        interrupts the code.
        """
        return EventStream(await self._service.stream(request, actor))

    @operation("POST", "/interactive/engine/suggestions", Role.OPERATOR)
    async def suggestions(self, request: Body[GetSuggestionsRequest]) -> list[Suggestion]:
        """Suggest what may stand at a position in code, in view of what the notebook's kernel has run.

        LineNumber and Column begin at 1; Column counts code points.
        """
        return await self._service.suggestions(request)

    @operation("GET", "/interactive/engine/file", Role.OPERATOR)
    async def file(self, id: str, actor: Actor) -> File:
        """Fetch a file that a run made, within an hour.

        Files of code that was run here are for the one who ran it, and Admins; others get 404. Those of actions and
        notebooks are named by the record of their run.
        """
        return await self._files.fetch(id, actor)

    @operation("POST", "/interactive/engine/execute", Role.OPERATOR)
    async def execute(self, request: Body[ExecuteDibRequest], actor: Actor) -> File:
        """Run a document with parameters; answers its last result in its media type.

        PreferredFormat chooses among the types that the result has. Values of a wrong type, and missing ones, are
        refused before anything runs. Code that fails answers 422 with its traceback. A header Penstock-File for each of
        the first files that it made has the file's id and name.
        """
        answer, files = await self._service.execute(request, actor)
        return File(answer.body, answer.media_type, headers=tuple(_named(file) for file in files[:_MOST_NAMED]))

    @operation("POST", "/interactive/document/analyze", Role.READER)
    async def analyze(self, dib_document: Body[str]) -> DibAnalyzationResult:
        """Tell the parameters of a document and the type of its result, without running it.

        Takes .dib, .ipynb and Python in percent form.
        """
        return analyzation_result(await self._service.analyze(dib_document))


def _named(file: RunFile) -> tuple[str, str]:
    # Header fields are ASCII (RFC 8187).
    return "penstock-file", f"{file.id or 'too-large'}; name*=UTF-8''{quote(file.file_name)}"
