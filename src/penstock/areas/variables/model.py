"""Variables: named values that integrations use, some of them secret."""

from penstock.kernel.wire import Wire
from penstock.store.definition import Collection, Column, ColumnType

MASK = "********"


class VariableDto(Wire):
    """A variable as it is stored and answered. Value: `********` for a secret, which is sealed beside it."""

    name: str | None = None
    description: str | None = None
    value: str | None = None
    is_secret: bool = False


class AuditedVariable(Wire):
    """A variable in the audit log: never its value, since what is public today may be made secret tomorrow."""

    name: str | None
    description: str | None
    is_secret: bool
    value_changed: bool


def audited(variable: VariableDto, value_changed: bool = False) -> AuditedVariable:
    """The variable for the audit log."""
    return AuditedVariable(
        name=variable.name,
        description=variable.description,
        is_secret=variable.is_secret,
        value_changed=value_changed,
    )


VARIABLES: Collection[VariableDto] = Collection(
    "variables", VariableDto, (Column("name", lambda variable: variable.name, ColumnType.KEY, unique=True),)
)
