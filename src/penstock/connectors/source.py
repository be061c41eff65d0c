"""The base of event sources: where events come from."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from penstock.connectors.kind import Kind
from penstock.connectors.secret_fields import without_secrets
from penstock.connectors.source_surroundings import SourceSurroundings
from penstock.kernel.errors import FieldError, Invalid, PenstockError
from penstock.protocol.cloudevent import CloudEvent

Position = Any
"""How far a source has read: a JSON value of its own making; None before it has read anything."""

_WHOLE = {"specversion": "1.0", "id": "1", "source": "/", "type": "t"}


class SourceFailed(PenstockError):
    """The source cannot be read now. retry_after: seconds that the other side asks to wait."""

    code = "source-failed"
    title = "The event source cannot be read"

    def __init__(self, detail: str = "", retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a source found; it becomes an event.

    key: tells it from all other findings of the source: found again, it has the same key.
    data: a JSON value, text when `media_type` is no JSON, or bytes. time: when it happened; None: now.
    """

    key: str
    type: str
    data: Any = None
    media_type: str = "application/json"
    subject: str | None = None
    time: datetime | None = None


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What a source found, and how far it has read then. more: there is more to be had at once."""

    found: Sequence[Finding] = ()
    position: Position = None
    more: bool = False


Emit = Callable[[Findings], Awaitable[None]]
"""Returns once the findings and the position are kept for good."""


class SourceKind(Kind, frozen=True):
    """A kind of event source; one file in `sources/` each. The fields here are common to all kinds.

    requires_polling: it is asked again and again, by a frequency or a cron expression, instead of listening.
    stateful: it reads on from a position, which is taken when it begins, also when it is not due yet.
    shared: whoever runs it sees the same, so that an event has the same id wherever it was found. Otherwise what
        is found in one place is another event than what is found in another.
    on_servers: it may run on a server, too, and not only on agents.
    """

    requires_polling: ClassVar[bool] = False
    stateful: ClassVar[bool] = False
    shared: ClassVar[bool] = False
    on_servers: ClassVar[bool] = True

    source: Annotated[
        str | None, Meta(description="Attribute `source` of the events; `/eventsources/<name>` when it is left out.")
    ] = None
    event_type: Annotated[
        str | None, Meta(description="Attribute `type` of all events, in place of the ones that the kind gives them.")
    ] = None

    def check(self) -> None:
        errors = []
        for name, value in (("source", self.source), ("eventType", self.event_type)):
            attribute = "source" if name == "source" else "type"
            try:
                CloudEvent.from_value({**_WHOLE, attribute: value} if value is not None else _WHOLE)
            except Invalid as error:
                errors += [FieldError(name, each.message) for each in error.errors]
        if errors:
            raise Invalid(errors)

    def origin(self) -> Any:
        """What it reads, as a JSON value: a position holds as long as this stays the same."""
        public, _ = without_secrets(type(self).schema(), msgspec.to_builtins(self))
        return {name: value for name, value in public.items() if name not in ("source", "eventType")}

    async def poll(self, position: Position, surroundings: SourceSurroundings) -> Findings:
        """What there is since `position`. The first time (None) a kind that reads on from where it was only says
        where that is, so that what was there before the source does not become events. Raises SourceFailed.
        """
        raise NotImplementedError

    async def listen(self, position: Position, emit: Emit, surroundings: SourceSurroundings) -> None:
        """Emits what comes, until cancelled; first of all, perhaps nothing, to say that it has begun to listen.

        Raises SourceFailed when it cannot go on.
        """
        raise NotImplementedError
