"""What is done with event triggers."""

from collections.abc import Sequence
from functools import lru_cache
from uuid import UUID

import msgspec

from penstock.areas.triggers.checks import checked_script, own_errors, type_errors
from penstock.areas.triggers.model import EventTrigger, EventTriggerParameter
from penstock.areas.triggers.stored import EVENT_TRIGGERS, StoredEventTrigger
from penstock.bus.bus import Bus
from penstock.bus.streams import Streams
from penstock.connectors.json_path import JsonPath
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, NotFound
from penstock.protocol.cloudevent import text_problem
from penstock.protocol.event_streams import EVENTS
from penstock.resource.changes import Changes
from penstock.resource.ports.scripts import Actions
from penstock.resource.resource import Resource, last_wins
from penstock.store.store import Store, Where

TYPE = "event"
_LONGEST_PATH = 4096

json_path = lru_cache(maxsize=10_000)(JsonPath)


class EventTriggerService:
    """A trigger is for events that are accepted after it was made, enabled, or told to match others."""

    def __init__(self, store: Store, changes: Changes, clock: Clock, actions: Actions, bus: Bus) -> None:
        self._triggers = Resource(
            EVENT_TRIGGERS, store, changes, clock, kind="event trigger", audited=StoredEventTrigger.shown
        )
        self._clock = clock
        self._actions = actions
        self._streams = Streams(bus)

    async def all(self, action: UUID | None = None) -> list[EventTrigger]:
        """Newest first. action: only those that run it."""
        where = [Where("script", "=", str(action))] if action is not None else []
        return [trigger.shown() for trigger in await self._triggers.decoded(where)]

    async def get(self, id: UUID) -> StoredEventTrigger:
        """Raises NotFound."""
        return await self._triggers.get(id)

    async def create(self, wanted: EventTrigger, actor: Actor) -> EventTrigger:
        """Raises Invalid, NameTaken, Unavailable."""
        described = await self._described(wanted, None)
        return (await self._triggers.create(await self._from_now(described), actor)).shown()

    async def save(self, id: UUID, wanted: EventTrigger, actor: Actor, if_match: str | None) -> EventTrigger:
        """Raises NotFound, Invalid, NameTaken, Stale, Unavailable."""

        async def attempt() -> EventTrigger:
            before = await self.get(id)
            after = await self._described(wanted, id)
            begins = after.is_enabled and (not before.is_enabled or after.pattern != before.pattern)
            after = await self._from_now(after) if begins else _as_before(after, before)
            return (await self._triggers.replace(after, before, actor, if_match)).shown()

        return await last_wins(attempt, if_match or wanted.e_tag)

    async def toggle(self, id: UUID, actor: Actor) -> EventTrigger:
        """Raises NotFound, Unavailable."""

        async def attempt() -> EventTrigger:
            before = await self.get(id)
            after = msgspec.structs.replace(before, is_enabled=not before.is_enabled)
            after = await self._from_now(after) if after.is_enabled else after
            return (await self._triggers.replace(after, before, actor)).shown()

        return await last_wins(attempt)

    async def delete(self, id: UUID, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale."""
        await self._triggers.delete(await self.get(id), actor, if_match)

    async def _described(self, wanted: EventTrigger, id: UUID | None) -> StoredEventTrigger:
        errors = [*own_errors(wanted.id, id, wanted.name), *type_errors(wanted.trigger_type, TYPE)]
        for field, value in (
            ("EventType", wanted.event_type),
            ("EventSource", wanted.event_source),
            ("Version", wanted.version),
        ):
            if value and (problem := text_problem(value)):
                errors.append(FieldError(field, problem))
        parameters = wanted.parameters or []
        later = [index for index, each in enumerate(parameters) if each.json_path is not None]
        errors += _path_errors(parameters)
        action = await checked_script(self._actions, wanted.action_id, "ActionId", parameters, errors, later=later)
        given = {name: getattr(wanted, name) for name in EventTrigger.__struct_fields__}
        return StoredEventTrigger(**{**given, "id": id, "action_name": action.name, "trigger_type": TYPE})

    async def _from_now(self, trigger: StoredEventTrigger) -> StoredEventTrigger:
        now = self._clock.now()
        try:
            newest = (await self._streams.info(EVENTS)).state.last_seq
        except NotFound:  # no event has been accepted yet
            newest = 0
        return msgspec.structs.replace(trigger, after=newest, since=now)


def _as_before(trigger: StoredEventTrigger, before: StoredEventTrigger) -> StoredEventTrigger:
    return msgspec.structs.replace(trigger, after=before.after, since=before.since)


def _path_errors(parameters: Sequence[EventTriggerParameter]) -> list[FieldError]:
    errors = []
    for index, each in enumerate(parameters):
        field = f"Parameters[{index}].JsonPath"
        if each.json_path is None:
            continue
        if each.value_json is not None:
            errors.append(FieldError(field, "must not be given together with ValueJson"))
        if len(each.json_path) > _LONGEST_PATH:
            errors.append(FieldError(field, f"must have at most {_LONGEST_PATH} characters"))
            continue
        try:
            json_path(each.json_path)
        except ValueError as problem:
            errors.append(FieldError(field, str(problem)))
    return errors
