"""What is done with integration services: saved, removed, made into flows."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from penstock.areas.integrationservices.checks import check_service
from penstock.areas.integrationservices.model import (
    SERVICES,
    GeneratedServiceFlow,
    IntegrationService,
    IntegrationServiceDto,
    ServiceFlow,
    StoredService,
)
from penstock.areas.integrationservices.property_types import completed
from penstock.areas.integrationservices.template import as_flow
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, Stale
from penstock.kernel.names import name_errors
from penstock.kernel.wire import encode
from penstock.resource.answer import Encoded
from penstock.resource.changes import Changes
from penstock.resource.ports.flow_drafts import FlowDraft, FlowDrafts
from penstock.resource.resource import Resource, last_wins
from penstock.store.store import Store
from penstock.store.write import Write


class IntegrationServices:
    """A flow that was generated is a flow like others: later changes of the service do not reach it."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, flows: FlowDrafts) -> None:
        self._services = Resource(SERVICES, store, changes, clock, kind="integration service")
        self._flows = flows

    async def all(self) -> list[IntegrationServiceDto]:
        """Newest first."""
        return [service.dto() for service in await self._services.decoded()]

    async def read(self, name: str) -> Encoded[IntegrationServiceDto]:
        """Raises NotFound."""
        service = await self._services.named(name)
        return Encoded(encode(service.dto()), service.e_tag)

    async def find(self, name: str) -> StoredService | None:
        return await self._services.find("name", name)

    async def create(self, wanted: IntegrationService, actor: Actor) -> IntegrationService:
        """Raises Invalid, NameTaken."""
        service, writes = self.plan_put(wanted, None, actor)
        await self._services.commit(writes, service)
        return service.shown()

    async def save(self, wanted: IntegrationService, actor: Actor, if_match: str | None) -> IntegrationService:
        """Makes the service, or replaces the one of the same name. Raises Invalid, Stale."""
        return await self._change(wanted.name or "", lambda before: wanted, actor, if_match)

    async def set_variables(self, name: str, text: bytes, actor: Actor) -> IntegrationService:
        """Sets some variables; null removes one. text: a JSON object. Raises NotFound, Invalid."""
        given = _object(text)
        await self._services.named(name)

        def edit(before: StoredService | None) -> IntegrationService:
            shown = before.shown() if before is not None else IntegrationService(name=name)
            variables = {**(shown.variables or {}), **given}
            kept = {key: value for key, value in variables.items() if value is not None}
            return msgspec.structs.replace(shown, variables=kept or None)

        return await self._change(name, edit, actor, None)

    async def remove(self, name: str, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale."""
        await self._services.delete(await self._services.named(name), actor, if_match)

    async def generate(self, name: str, wanted: ServiceFlow, actor: Actor) -> GeneratedServiceFlow:
        """Saves a flow made of the service, a new version of it when there is one of that name.

        Raises NotFound, Invalid, NameTaken.
        """
        service = await self._services.named(name)
        values, errors = completed(
            service.properties, {**(service.variables or {}), **(wanted.variables or {})}, "Variables"
        )
        if errors := [*name_errors("Name", wanted.name), *errors]:
            raise Invalid(errors)
        draft = FlowDraft(
            name=wanted.name or "",
            spec=as_flow(service.specification),
            variables=values,
            project=wanted.project,
            category=service.category,
            labels=[f"service:{service.name}", *(wanted.labels or ())],
            requirements=wanted.requirements or (),
        )
        version = await self._flows.save_draft(draft, actor)
        return GeneratedServiceFlow(name=draft.name, version=version, flow_spec=draft.spec, variables=dict(values))

    def plan_put(
        self, wanted: IntegrationService, before: StoredService | None, actor: Actor, if_match: str | None = None
    ) -> tuple[StoredService, Sequence[Write]]:
        """The service as it will be, and the writes that make it so; none when nothing differs. Raises Invalid."""
        check_service(wanted)
        if before is None:
            return self._services.plan_create(_described(StoredService(name=wanted.name or ""), wanted), actor)
        after = _described(before, wanted)
        if after == before and if_match is None:
            return before, ()
        following = msgspec.structs.replace(after, version=before.version + 1)
        return self._services.plan_replace(following, before, actor, if_match=if_match)

    async def plan_remove(self, service: StoredService, actor: Actor) -> Sequence[Write]:
        return self._services.plan_delete(service, actor, service.e_tag)

    async def announce(self, service: StoredService) -> None:
        """Tells of a change, once it is committed."""
        await self._services.commit([], service)

    async def _change(
        self,
        name: str,
        edit: Callable[[StoredService | None], IntegrationService],
        actor: Actor,
        if_match: str | None,
    ) -> IntegrationService:

        async def attempt() -> IntegrationService:
            before = await self.find(name)
            if before is None and if_match is not None:
                raise Stale
            service, writes = self.plan_put(edit(before), before, actor, if_match)
            await self._services.commit(writes, service)
            return service.shown()

        return await last_wins(attempt, if_match)


def _described(service: StoredService, wanted: IntegrationService) -> StoredService:
    return msgspec.structs.replace(
        service,
        title=wanted.title,
        description=wanted.description,
        category=wanted.category,
        specification=wanted.specification or "",
        variables=wanted.variables,
        properties=wanted.properties or [],
    )


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Invalid([FieldError("", 'must be a string that holds a JSON object, such as \'{"host": "a"}\'')])
    return found
