"""Operations on runs of actions and notebooks."""

from uuid import UUID

from penstock.areas.runs.service import RunService
from penstock.kernel.actor import Role
from penstock.kernel.errors import NotFound
from penstock.resource.operation import operation
from penstock.resource.script_run import ScriptRun, shown_run


class RunOperations:
    """Runs on record, whatever made them happen."""

    def __init__(self, service: RunService) -> None:
        self._service = service

    @operation("GET", "/automation/runs/{id}", Role.READER, beyond=True)
    async def get_run(self, id: UUID) -> ScriptRun:
        """Get a run of the last 30 days, with the files that it made."""
        run = await self._service.recorded(id)
        if run is None:
            raise NotFound.of("run", id)
        return shown_run(run)

    @operation("GET", "/automation/runs", Role.READER, beyond=True)
    async def list_runs(self, script_id: UUID | None = None, trigger_id: UUID | None = None) -> list[ScriptRun]:
        """List runs of the last 30 days, newest first, at most 1,000.

        scriptId: of the action or notebook. triggerId: of the trigger, endpoint or schedule that made them happen.
        """
        return [shown_run(run) for run in await self._service.all(script_id, trigger_id)]
