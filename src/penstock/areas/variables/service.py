"""What is done with variables: listed, revealed, planned, handed to those that run integrations."""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

from penstock.areas.variables.model import MASK, VARIABLES, VariableDto, audited
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_errors, name_key
from penstock.resource.answer import Encoded
from penstock.resource.audit import audit
from penstock.resource.changes import Changes
from penstock.resource.sealed import Renewal, Sealed
from penstock.resource.secrets import Secrets
from penstock.store.body import decode
from penstock.store.store import Document, Store, Where
from penstock.store.write import Append, Delete, Insert, Replace, Write

_ALL = 2**31 - 1


class VariableService:
    """Secrets are sealed beside the variable, whose stored body is masked already: no reader has to mask anything."""

    def __init__(self, store: Store, secrets: Secrets, changes: Changes, clock: Clock) -> None:
        self._store = store
        self._values = Sealed(VARIABLES, store, secrets, clock)
        self._changes = changes
        self._clock = clock

    async def all(self) -> Encoded[list[VariableDto]]:
        """Every variable, newest first, secrets masked."""
        documents = await self._store.list(VARIABLES, limit=_ALL)
        return Encoded.array([document.body for document in documents])

    async def read(self, name: str) -> Encoded[VariableDto]:
        """One variable, masked when it is a secret. Raises NotFound."""
        document = await self._named(name)
        return Encoded(document.body, document.e_tag)

    async def reveal(self, name: str, actor: Actor) -> str:
        """The value, after the audit log has it that somebody read it. Raises NotFound, SecretUnreadable."""
        document = await self._named(name)
        variable = _variable(document)
        value = await self.value(document.id, variable)
        await self._store.commit([self._audit("revealed", document.id, variable, actor)])
        return value

    async def values(self, names: Sequence[str]) -> Mapping[str, tuple[str, bool]]:
        """See resource.ports.variables.Variables. Raises SecretUnreadable."""
        possible = {name for name in names if not name_errors("name", name)}
        if not possible:
            return {}
        documents = await self._store.list(VARIABLES, [Where("name", "in", list(possible))], limit=_ALL)
        variables = [(document.id, _variable(document)) for document in documents]
        values = await asyncio.gather(*(self.value(id, variable) for id, variable in variables))
        found = {
            name_key(variable.name or ""): (value, variable.is_secret)
            for (_, variable), value in zip(variables, values, strict=True)
        }
        return {name: found[name_key(name)] for name in names if name_key(name) in found}

    async def find(self, name: str) -> tuple[Document, VariableDto] | None:
        """The variable of this name, compared without case."""
        document = await self._store.find(VARIABLES, "name", name)
        return (document, _variable(document)) if document else None

    async def value(self, id: UUID, variable: VariableDto) -> str:
        """The variable's value, unmasked. Raises SecretUnreadable."""
        value = await self._values.open(id) if variable.is_secret else variable.value
        return value or ""

    def plan_create(self, wanted: VariableDto, actor: Actor) -> Sequence[Write]:
        """The writes that store a new variable. wanted: with its value in the clear."""
        id, now = new_id(), self._clock.now()
        body, sealed = self._stored(id, wanted)
        insert = Insert(VARIABLES, id, new_id().hex, body, now, sealed=sealed)
        return [insert, self._audit("created", id, wanted, actor, value_changed=True)]

    def plan_replace(
        self, wanted: VariableDto, document: Document, before: VariableDto, actor: Actor, *, value_changed: bool
    ) -> Sequence[Write]:
        """The writes that store `wanted`, with its value in the clear, in place of `before`."""
        body, sealed = self._stored(document.id, wanted)
        replace = Replace(
            VARIABLES, document.id, new_id().hex, body, self._clock.now(), expected=document.e_tag, sealed=sealed
        )
        return [replace, self._audit("updated", document.id, wanted, actor, before, value_changed=value_changed)]

    def plan_delete(self, document: Document, before: VariableDto, actor: Actor) -> Sequence[Write]:
        """The writes that delete a variable."""
        now = self._clock.now()
        delete = Delete(VARIABLES, document.id, now, expected=document.e_tag)
        deleted = audit(
            "deleted", VARIABLES.name, document.id, actor=actor, at=now, subject=before.name, before=audited(before)
        )
        return [delete, deleted]

    async def announce(self, name: str) -> None:
        """Tells who uses variables that this one changed; for after the commit."""
        await self._changes.tell(VARIABLES.name, name)

    async def renew_seals(self) -> Renewal:
        """Seals values under the current master key."""
        return await self._values.renew()

    def _stored(self, id: UUID, wanted: VariableDto) -> tuple[VariableDto, bytes | None]:
        if not wanted.is_secret:
            return wanted, None
        masked = VariableDto(name=wanted.name, description=wanted.description, value=MASK, is_secret=True)
        return masked, self._values.seal(id, wanted.value or "")

    def _audit(
        self,
        act: str,
        id: UUID,
        variable: VariableDto,
        actor: Actor,
        before: VariableDto | None = None,
        *,
        value_changed: bool = False,
    ) -> Append:
        return audit(
            act,
            VARIABLES.name,
            id,
            actor=actor,
            at=self._clock.now(),
            subject=variable.name,
            before=audited(before) if before else None,
            after=audited(variable, value_changed),
        )

    async def _named(self, name: str) -> Document:
        document = await self._store.find(VARIABLES, "name", name)
        if document is None:
            raise NotFound.of("variable", name)
        return document


def _variable(document: Document) -> VariableDto:
    return decode(document.body, VARIABLES.type)
