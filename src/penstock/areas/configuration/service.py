"""Applying configuration: everything is checked first, then everything is committed at once, or nothing."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import structlog

from penstock.areas.configuration.document import Document, read_documents
from penstock.areas.configuration.model import KindDescription, PlannedChange
from penstock.areas.configuration.schema import spec_schema
from penstock.areas.configuration.yaml_tree import MOST_ERRORS
from penstock.kernel.actor import Actor
from penstock.kernel.errors import FieldError, Invalid, NameTaken, NotFound, PenstockError, Stale, Unavailable
from penstock.kernel.names import name_key
from penstock.resource.kind import Plan
from penstock.resource.ports.configuration_kinds import ConfigurationKinds
from penstock.store.store import Store

log = structlog.get_logger(__name__)

_TRIES = 3
_PREPARED_AT_ONCE = 32


class ConfigurationService:
    """Plans and applies texts of configuration documents."""

    def __init__(self, kinds: ConfigurationKinds, store: Store) -> None:
        self._kinds = kinds
        self._store = store

    def kinds(self) -> list[KindDescription]:
        """Every kind, by name."""
        return [
            KindDescription(kind=name, description=(kind.__doc__ or "").strip(), schema=spec_schema(kind.spec))
            for name, kind in sorted(self._kinds.items())
        ]

    async def plan(self, text: str, actor: Actor) -> list[PlannedChange]:
        """What applying the text would do, in its order. Raises Invalid with every problem."""
        documents, plans = await self._planned(text, actor)
        return [
            PlannedChange(
                document=document.number,
                kind=document.kind.kind,
                name=document.metadata.name,
                action=plan.action,
                before=plan.before,
                after=plan.after,
            )
            for document, plan in zip(documents, plans, strict=True)
        ]

    async def apply(self, text: str, actor: Actor) -> None:
        """Applies every document of the text, or none.

        Raises Invalid with every problem; NameTaken or Stale when others changed the same objects meanwhile.
        """
        plans = await self._commit(text, actor)
        for plan in plans:
            await _finish(plan)
        log.info("configuration applied", by=actor.name, **Counter(plan.action for plan in plans))

    async def _commit(self, text: str, actor: Actor) -> Sequence[Plan]:
        for left in reversed(range(_TRIES)):
            _, plans = await self._planned(text, actor)
            await _prepare(plans)
            try:
                await self._store.commit([write for plan in plans for write in plan.writes])
                break
            except (NameTaken, Stale):
                # Planned anew from what is there now; who keeps losing is told so.
                if not left:
                    raise
            except NotFound as error:
                if not left:
                    raise Stale(f"{error.detail} any more; nothing was changed") from None
        return plans

    async def _planned(self, text: str, actor: Actor) -> tuple[Sequence[Document], Sequence[Plan]]:
        errors: list[FieldError] = []
        documents = await asyncio.to_thread(read_documents, text, self._kinds, errors)
        plans = [await _plan(document, actor, errors) for document in documents if len(errors) < MOST_ERRORS]
        errors += _unmet(documents, plans)
        if not errors:
            errors = await _conflicts(documents, [plan for plan in plans if plan is not None])
        if errors:
            raise _refusal(errors)
        return documents, [plan for plan in plans if plan is not None]


async def _plan(document: Document, actor: Actor, errors: list[FieldError]) -> Plan | None:
    try:
        if document.removal:
            return await document.kind.plan_removal(document.metadata, actor)
        if document.spec is not None:
            return await document.kind.plan(document.metadata, document.spec, actor)
    except Invalid as error:
        errors += document.located(error.errors)
    except NameTaken as error:
        errors += document.located([FieldError("metadata.name", error.detail)])
    return None


def _unmet(documents: Sequence[Document], plans: Sequence[Plan | None]) -> list[FieldError]:
    made = {document.key for document in documents if not document.removal}
    for document, plan in zip(documents, plans, strict=False):
        made.update((document.kind.kind, name_key(name)) for name in (plan.makes if plan is not None else ()))
    return [
        error
        for document, plan in zip(documents, plans, strict=False)
        for need in (plan.needs if plan is not None else ())
        if (need.kind, name_key(need.name)) not in made
        for error in document.located([FieldError(need.field, f"there is no {need.kind} '{need.name}'")])
    ]


async def _conflicts(documents: Sequence[Document], plans: Sequence[Plan]) -> list[FieldError]:
    errors: list[FieldError] = []
    for kind in dict.fromkeys(document.kind for document in documents):
        own = [(document, plan) for document, plan in zip(documents, plans, strict=True) if document.kind is kind]
        found = await kind.conflicts([plan for _, plan in own], plans)
        errors += [e for (document, _), each in zip(own, found, strict=True) for e in document.located(each)]
    return errors


async def _prepare(plans: Sequence[Plan]) -> None:
    """Plans are prepared side by side, the steps of each in their order; the first failure ends it."""
    waiting = iter(plans)

    async def prepare_some() -> None:
        for plan in waiting:
            for prepare in plan.prepare:
                await prepare()

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(_PREPARED_AT_ONCE, len(plans))):
                group.create_task(prepare_some())
    except* PenstockError as failures:
        raise failures.exceptions[0] from None


async def _finish(plan: Plan) -> None:
    for finish in plan.finish:
        try:
            await finish()
        except Unavailable as error:
            # The change is stored; its area follows up when it starts or resyncs.
            log.warning("follow-up of applied configuration is delayed", reason=error.detail)


def _refusal(errors: list[FieldError]) -> Invalid:
    told = errors[:MOST_ERRORS]
    problems = "1 problem" if len(told) == 1 else f"{len(told)} problems"
    if len(told) == MOST_ERRORS:
        problems += " or more"
    first = f"{told[0].field}: {told[0].message}" if told[0].field else told[0].message
    return Invalid(told, f"{problems}, nothing was changed; {first}")
