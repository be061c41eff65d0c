"""A message on its way through a route."""

from datetime import datetime
from typing import TYPE_CHECKING

from penstock.flow.headers import Headers
from penstock.flow.values import text_of as text_of
from penstock.kernel.ids import new_id

if TYPE_CHECKING:
    from penstock.flow.failures.error_handling import ErrorHandling


class Exchange:
    """id: its name in logs. body: any value, None when there is none. created: when it began, UTC.

    due: the tick that it stands for; None when no schedule made it.
    route: the id of the route that it is in, came_from: of the first one.
    in_out: whether whoever made it waits for what becomes of the message.
    properties: live as long as the exchange; headers are the message's. variables: likewise, by name.
    stopped: it takes no further step. handled: because an error was handled.
    error: what it failed with, once it has ended.
    handling: how errors of its steps are handled now; None when whoever calls the steps does that.
    exhausted: the error for which handling has done all it could.
    depth: how many routes it is in, one within the other.
    original: the message that it began with, where something asks for it.
    """

    __slots__ = (
        "body",
        "came_from",
        "created",
        "depth",
        "due",
        "error",
        "exhausted",
        "handled",
        "handling",
        "headers",
        "id",
        "in_out",
        "original",
        "properties",
        "route",
        "stopped",
        "variables",
    )

    def __init__(self, exchange_id: str, route: str, created: datetime, due: datetime | None = None) -> None:
        self.id = exchange_id
        self.route = self.came_from = route
        self.created = created
        self.due = due
        self.in_out = False
        self.body: object = None
        self.headers = Headers()
        self.properties: dict[str, object] = {}
        self.variables: dict[str, object] = {}
        self.stopped = self.handled = False
        self.error: BaseException | None = None
        self.handling: ErrorHandling | None = None
        self.exhausted: BaseException | None = None
        self.depth = 0
        self.original: Message | None = None

    def copy(self) -> "Exchange":
        """A new exchange, in the same routes, with the same message, properties and way of handling errors.

        Values are shared.
        """
        other = Exchange(str(new_id()), self.route, self.created, self.due)
        other.came_from = self.came_from
        other.take(self.message())
        other.properties = dict(self.properties)
        other.variables = dict(self.variables)
        other.handling = self.handling
        other.depth = self.depth
        other.original = other.message() if self.original is not None else None
        return other

    def message(self) -> "Message":
        """Body and headers as they are now."""
        return Message(self.body, self.headers.copy())

    def take(self, message: "Message") -> None:
        """Goes on with another message."""
        self.body = message.body
        self.headers = message.headers.copy()


class Message:
    """A body and its headers."""

    __slots__ = ("body", "headers")

    def __init__(self, body: object, headers: Headers) -> None:
        self.body = body
        self.headers = headers
