"""A message on its way through a route."""

from datetime import datetime

from penstock.flow.headers import Headers


class Exchange:
    """id: its name in logs. body: any value, None when there is none. created: when it began, UTC.

    due: the tick that it stands for; None when no schedule made it.
    """

    __slots__ = ("body", "created", "due", "headers", "id", "properties", "route")

    def __init__(self, exchange_id: str, route: str, created: datetime, due: datetime | None = None) -> None:
        self.id = exchange_id
        self.route = route
        self.created = created
        self.due = due
        self.body: object = None
        self.headers = Headers()
        self.properties: dict[str, object] = {}


def text_of(value: object) -> str:
    """A value as a text, as Camel's type converter writes it; None is empty."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "replace")
    return str(value)
