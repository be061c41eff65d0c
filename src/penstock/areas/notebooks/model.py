"""Notebooks."""

from penstock.kernel.entity import Entity
from penstock.kernel.wire import Wire
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


NOTEBOOKS: Collection[NotebookEntity] = Collection(
    "notebooks",
    NotebookEntity,
    (Column("file_name", lambda notebook: notebook.file_name, ColumnType.KEY, unique=True),),
)
