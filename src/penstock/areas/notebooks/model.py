"""Notebooks."""

from datetime import datetime
from uuid import UUID

from penstock.kernel.duration import Duration
from penstock.kernel.entity import Entity
from penstock.kernel.wire import Int32, Wire
from penstock.resource.script_parameters import RunNotebookParameter
from penstock.store.definition import Collection, Column, ColumnType


class NotebookEntity(Entity):
    """A document. FileName: its ending, .dib, .ipynb or .py, tells the form of Content, which is kept as it came."""

    file_name: str | None = None
    content: str | None = None


class NewNotebookDto(Wire):
    """A new notebook."""

    file_name: str | None = None
    content: str | None = None


class RunNotebookRequest(Wire):
    """PreferredFormat: the media type of the answer, where the result has it."""

    preferred_format: str | None = None
    parameters: list[RunNotebookParameter] | None = None
    trigger_type: str | None = None
    trigger_id: str | None = None


class NotebookRun(Wire):
    """A run of a notebook. StatusCode: 200, 400 when a schedule had no values that fit, 422 when the code failed, 503
    when it could not run or was cut off.
    """

    id: UUID
    started: datetime
    started_by: str | None
    parameters: list[RunNotebookParameter]
    trigger_type: str | None
    trigger_id: str | None
    finished: bool
    status_code: Int32 | None
    duration: Duration | None
    error: str | None


NOTEBOOKS: Collection[NotebookEntity] = Collection(
    "notebooks",
    NotebookEntity,
    (Column("file_name", lambda notebook: notebook.file_name, ColumnType.KEY, unique=True),),
)
