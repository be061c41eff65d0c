"""Operations on actions."""

from uuid import UUID

from penstock.areas.actions.model import ActionEntity, ActionExecutionEntity, NewActionDto, RunActionRequest
from penstock.areas.actions.service import ActionService
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import Encoded, File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch
from penstock.resource.ports.runs import RunParameter, RunTrigger
from penstock.resource.run_values import file_of


class ActionOperations:
    """Scripts with parameters."""

    def __init__(self, service: ActionService) -> None:
        self._service = service

    @operation("GET", "/automation/action/{id}", Role.READER)
    async def get(self, id: UUID) -> Encoded[ActionEntity]:
        """Get an action."""
        return await self._service.read(id)

    @operation("DELETE", "/automation/action/{id}", Role.OPERATOR)
    async def delete(self, id: UUID, actor: Actor, if_match: IfMatch) -> File:
        """Delete an action. Its runs in progress go on. One that triggers run answers 409, naming them."""
        await self._service.delete(id, actor, if_match)
        return File()

    @operation("PUT", "/automation/action/{id}", Role.OPERATOR)
    async def save(self, id: UUID, new_content: Body[str], actor: Actor, if_match: IfMatch) -> ActionEntity:
        """Replace the content of an action. Its parameters and their defaults are inferred anew."""
        return await self._service.save(id, new_content, actor, if_match)

    @operation("GET", "/automation/action/find", Role.READER)
    async def find(self, name: str) -> ActionEntity:
        """Get an action by its name, which is compared without case."""
        return await self._service.find(name)

    @operation("GET", "/automation/action", Role.READER)
    async def list_actions(self) -> Encoded[list[ActionEntity]]:
        """List actions, newest first."""
        return await self._service.all()

    @operation("POST", "/automation/action", Role.OPERATOR)
    async def create(self, action: Body[NewActionDto], actor: Actor) -> ActionEntity:
        """Create an action. A taken Name answers 409.

        Parameters are declared by `#!value`, by `@input`, or by the assignments of a Python cell tagged `parameters`
        or beginning with the comment `# parameters`.
        """
        return await self._service.create(action, actor)

    @operation("GET", "/automation/action/{id}/history", Role.READER)
    async def history(self, id: UUID) -> list[ActionExecutionEntity]:
        """List the runs of an action in the last 30 days, newest first, at most 1,000."""
        return await self._service.history(id)

    @operation("POST", "/automation/action/{id}/run", Role.OPERATOR)
    async def run(self, id: UUID, request: Body[RunActionRequest], actor: Actor) -> File:
        """Run an action; answers its last result in its media type, or what it printed.

        A result that JSON can say is JSON unless PreferredFormat asks for another of its types. Values of a wrong
        type, unknown ones and missing ones are refused with 400 before anything runs. Code that fails, or goes over a
        limit, answers 422 with its traceback. The run goes on when the caller leaves; the history has its end. The
        header Penstock-Run has the id of the run, whose record names the files that it made.
        """
        given = [RunParameter(name=p.name, value_json=p.value_json) for p in request.parameters or []]
        trigger = RunTrigger(request.trigger_type, str(request.trigger_id) if request.trigger_id else None)
        run = await self._service.start(id, given, trigger, actor)
        return file_of(run.id, await run.answer(request.preferred_format))
