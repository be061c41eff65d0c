"""What actions and notebooks have in common: code that is analyzed, run by its id, and has a history."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from penstock.engine.documents.analysis import Analysis, analyze_apart
from penstock.kernel.actor import Actor
from penstock.kernel.entity import Entity
from penstock.kernel.errors import FieldError, InUse, NotFound
from penstock.resource.answer import Encoded
from penstock.resource.ports.runs import AcceptedRun, RecordedRun, RunParameter, Runs, RunTrigger, Script
from penstock.resource.ports.scripts import DeclaredParameter, KnownScript, ScriptUses
from penstock.resource.resource import Resource
from penstock.resource.run_values import run_values

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True)
class Code:
    """name: what people call it. file_name: tells the form of the content, where it has one."""

    name: str
    content: str
    file_name: str | None = None


class ScriptService(ABC, Generic[E]):
    """Entities with code. Implements resource.ports.scripts.Scripts."""

    def __init__(self, resource: Resource[E], runs: Runs, uses: ScriptUses) -> None:
        self._resource = resource
        self._runs = runs
        self._uses = uses

    @abstractmethod
    def code(self, entity: E) -> Code:
        """The code of an entity."""

    async def all(self) -> Encoded[list[E]]:
        """Newest first."""
        return await self._resource.all()

    async def read(self, id: UUID) -> Encoded[E]:
        """Raises NotFound."""
        return await self._resource.read(id)

    async def delete(self, id: UUID, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale, InUse when something runs it."""
        entity = await self._resource.get(id)
        users = await self._uses.users(id)
        if users:
            raise InUse(f"it is run by {', '.join(users)}; remove that first")
        await self._resource.delete(entity, actor, if_match)

    async def analysis(self, id: UUID) -> Analysis:
        """Raises NotFound."""
        return await _analyzed(await self._code(id))

    async def runs(self, id: UUID) -> Sequence[RecordedRun]:
        """The newest first, at most 1,000. Raises NotFound."""
        await self._resource.get(id)
        return await self._runs.history(id)

    async def known(self, id: UUID) -> KnownScript:
        """See resource.ports.scripts.Scripts."""
        code = await self._code(id)
        declared = (await _analyzed(code)).parameters
        return KnownScript(id, code.name, [DeclaredParameter(p.name, p.type, p.required) for p in declared])

    async def names(self, ids: Collection[UUID]) -> Mapping[UUID, str]:
        """See resource.ports.scripts.Scripts."""
        names: dict[UUID, str] = {}
        for id in ids:
            with suppress(NotFound):
                names[id] = (await self._code(id)).name
        return names

    async def start(
        self,
        id: UUID,
        parameters: Sequence[RunParameter],
        trigger: RunTrigger,
        actor: Actor,
        run_id: UUID | None = None,
    ) -> AcceptedRun:
        """See resource.ports.scripts.Scripts."""
        code = await self._code(id)
        values = run_values(await _analyzed(code), parameters)
        return await self._runs.accept(_script(id, code, parameters, values), trigger, actor, run_id)

    async def refuse(
        self,
        id: UUID,
        parameters: Sequence[RunParameter],
        trigger: RunTrigger,
        actor: Actor,
        reason: str,
        run_id: UUID | None = None,
    ) -> None:
        """See resource.ports.scripts.Scripts."""
        script = _script(id, await self._code(id), parameters, {})
        await self._runs.refuse(script, trigger, actor, reason, run_id)

    async def _code(self, id: UUID) -> Code:
        return self.code(await self._resource.get(id))


def script_name_errors(field: str, name: str | None, longest: int) -> list[FieldError]:
    """What is wrong with the name of a script. longest: characters."""
    if not name or not name.strip():
        return [FieldError(field, "is required")]
    if len(name) > longest or not name.isprintable():
        return [FieldError(field, f"must be at most {longest} printable characters")]
    return []


async def _analyzed(code: Code) -> Analysis:
    return await analyze_apart(code.content, code.file_name)


def _script(id: UUID, code: Code, received: Sequence[RunParameter], values: Mapping[str, Any]) -> Script:
    return Script(id, code.name, code.content, values, received, code.file_name)
