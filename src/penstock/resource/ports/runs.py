"""Runs of actions and notebooks, from the moment they are accepted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from penstock.kernel.actor import Actor
from penstock.kernel.duration import Duration
from penstock.kernel.entity import Entity
from penstock.kernel.wire import Int32, Wire


class RunParameter(Wire):
    """A parameter's value, as a text of JSON."""

    name: str | None = None
    value_json: str | None = None


class RunFile(Wire):
    """A file that a run made. Id: for `GET /interactive/engine/file`; null when the file was too large to be kept."""

    id: str | None = None
    file_name: str
    media_type: str
    size: int


@dataclass(frozen=True)
class RunTrigger:
    """What made a run happen. type: such as `event`, `schedule`, `web`; None for a call by hand."""

    type: str | None = None
    id: str | None = None


class RecordedRun(Entity):
    """A run of an action or a notebook, from the moment it was accepted.

    received: the values given; parameters: those used. status_code: 200, 400 when it was refused, 422 when the code
    failed, 503 when it could not be run or was cut off; None while it is not finished. server: the replica that has it.
    attempts: how often it was begun.
    """

    script_id: UUID
    script_name: str
    received: list[RunParameter] = []
    parameters: list[RunParameter] = []
    trigger: str | None = None
    trigger_id: str | None = None
    status_code: Int32 | None = None
    duration: Duration | None = None
    error: str | None = None
    finished: bool = False
    files: list[RunFile] = []
    server: str
    attempts: int = 1


@dataclass(frozen=True)
class RunAnswer:
    """What a run answered. error: why it failed, with the traceback of its code."""

    status_code: int
    media_type: str = "text/plain"
    body: bytes = b""
    error: str | None = None


class AcceptedRun(Protocol):
    """A run that is on record, and goes on whether or not anybody waits for it."""

    @property
    def id(self) -> UUID: ...

    async def answer(self, preferred_format: str | None = None) -> RunAnswer:
        """Waits for the end."""
        ...


@dataclass(frozen=True)
class Script:
    """What a run runs. file_name: tells the form of the content, where it has a name. values: of its parameters."""

    id: UUID
    name: str
    content: str
    values: Mapping[str, Any]
    received: Sequence[RunParameter]
    file_name: str | None = None


class Runs(Protocol):
    """Provided by `runs`."""

    async def accept(self, script: Script, trigger: RunTrigger, actor: Actor, id: UUID | None = None) -> AcceptedRun:
        """Returns once the run is on record. Raises Unavailable, TooManyRequests.

        id: of a run that may have been asked for before. One that is on record is not repeated, unless it was cut off;
        what it answered is not kept, only how it ended.
        """
        ...

    async def refuse(
        self, script: Script, trigger: RunTrigger, actor: Actor, reason: str, id: UUID | None = None
    ) -> None:
        """Puts a run on record that cannot begin: it is finished, with the status 400 and the reason."""
        ...

    async def recorded(self, id: UUID) -> RecordedRun | None:
        """The run of this id, unless it is older than what is kept."""
        ...

    async def history(self, script_id: UUID) -> Sequence[RecordedRun]:
        """The newest first, at most 1,000."""
        ...
