"""Actions and notebooks, as those see them that run them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from penstock.kernel.actor import Actor
from penstock.resource.ports.runs import AcceptedRun, RunParameter, RunTrigger


@dataclass(frozen=True)
class DeclaredParameter:
    """A parameter of a script. type: of JSON Schema, or `any`. required: whether every run must give a value."""

    name: str
    type: str
    required: bool


@dataclass(frozen=True)
class KnownScript:
    """An action or a notebook as other areas see it. name: a notebook's is its file's."""

    id: UUID
    name: str
    parameters: Sequence[DeclaredParameter]


class Scripts(Protocol):
    """What can be run by its id."""

    async def known(self, id: UUID) -> KnownScript:
        """Raises NotFound."""
        ...

    async def names(self, ids: Collection[UUID]) -> Mapping[UUID, str]:
        """What those of them that exist are called."""
        ...

    async def start(
        self,
        id: UUID,
        parameters: Sequence[RunParameter],
        trigger: RunTrigger,
        actor: Actor,
        run_id: UUID | None = None,
    ) -> AcceptedRun:
        """Starts a run; returns once it is on record, from when on it ends as finished or failed whatever happens.

        run_id: see Runs.accept. Raises NotFound, Invalid for parameters that it does not have, lacks, or of a wrong
        type, Unavailable, TooManyRequests.
        """
        ...

    async def refuse(
        self,
        id: UUID,
        parameters: Sequence[RunParameter],
        trigger: RunTrigger,
        actor: Actor,
        reason: str,
        run_id: UUID | None = None,
    ) -> None:
        """See Runs.refuse. Raises NotFound, Unavailable."""
        ...


class Actions(Scripts, Protocol):
    """Provided by `actions`."""


class Notebooks(Scripts, Protocol):
    """Provided by `notebooks`."""


class ScriptUses(Protocol):
    """Provided by `triggers`."""

    async def users(self, script_id: UUID) -> Sequence[str]:
        """The triggers, schedules and endpoints that run this action or notebook, each in words."""
        ...
