"""Runs of actions and notebooks as the API shows them, whatever made them happen."""

from datetime import datetime
from uuid import UUID

from penstock.kernel.duration import Duration
from penstock.kernel.wire import Int32, Wire
from penstock.resource.ports.runs import RecordedRun, RunFile, RunParameter


class ScriptRun(Wire):
    """A run. TriggerId: of the trigger, endpoint or schedule that made it happen. StatusCode: 200, 400 when a trigger
    had no values that fit, 422 when the code failed, 503 when it could not run or was cut off. Files: what it left in
    its folder; `GET /interactive/engine/file` has them for an hour after the end.
    """

    id: UUID
    script_id: UUID
    script_name: str
    started: datetime
    started_by: str | None
    parameters: list[RunParameter]
    trigger_type: str | None
    trigger_id: str | None
    finished: bool
    status_code: Int32 | None
    duration: Duration | None
    error: str | None
    files: list[RunFile]


def shown_run(run: RecordedRun) -> ScriptRun:
    """The run as the API answers it."""
    return ScriptRun(
        id=run.key,
        script_id=run.script_id,
        script_name=run.script_name,
        started=run.created_date,
        started_by=run.created_by,
        parameters=run.parameters,
        trigger_type=run.trigger,
        trigger_id=run.trigger_id,
        finished=run.finished,
        status_code=run.status_code,
        duration=run.duration,
        error=run.error,
        files=run.files,
    )
