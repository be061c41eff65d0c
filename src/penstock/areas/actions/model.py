"""Actions, and their runs as the API shows them."""

from uuid import UUID

from penstock.kernel.duration import Duration
from penstock.kernel.entity import Entity
from penstock.kernel.wire import Int32, Wire
from penstock.resource.script_parameters import ActionParameter
from penstock.store.definition import Collection, Column, ColumnType


class ActionParameterTypeNameAndName(Wire):
    """A parameter. TypeName: string, integer, number, boolean, array, object, null or any; date, date-time or time for
    texts of that form.
    """

    type_name: str | None = None
    name: str | None = None


class ActionEntity(Entity):
    """A script. Parameters are those that the content declares, DefaultParameterValues the values it gives them."""

    name: str | None = None
    content: str | None = None
    parameters: list[ActionParameterTypeNameAndName] | None = None
    default_parameter_values: list[ActionParameter] | None = None


class ActionExecutionEntity(Entity):
    """A run of an action. Parameters: the values used. Duration and StatusCode are there once it is Finished: 200, 400
    when a trigger had no values that fit, 422 when the code failed, 503 when it could not run or was cut off.
    """

    action_id: UUID
    action_name: str | None = None
    received_parameters: list[ActionParameter] | None = None
    parameters: list[ActionParameter] | None = None
    status_code: Int32 | None = None
    duration: Duration | None = None
    trigger_id: UUID | None = None
    error: str | None = None
    finished: bool = False


class NewActionDto(Wire):
    """A new action. Content: a .dib document, Python, a Jupyter notebook, or Python in percent form."""

    name: str | None = None
    content: str | None = None


class RunActionRequest(Wire):
    """PreferredFormat: the media type of the answer, where the result has it."""

    preferred_format: str | None = None
    parameters: list[ActionParameter] | None = None
    trigger_id: UUID | None = None
    trigger_type: str | None = None


ACTIONS: Collection[ActionEntity] = Collection(
    "actions", ActionEntity, (Column("name", lambda action: action.name, ColumnType.KEY, unique=True),)
)
