"""Runs the actions of event triggers.

A message stays unacknowledged until its run has ended, so another replica gets it when this one dies. The run's id
follows from event and trigger: one that ended is not repeated, and one that was cut off goes on under its id.
"""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
import structlog

from penstock.areas.triggers.event_matches import Triggered
from penstock.areas.triggers.event_triggers import TYPE, EventTriggerService, json_path
from penstock.areas.triggers.model import EventTriggerParameter
from penstock.areas.triggers.stored import StoredEventTrigger
from penstock.bus.bus import Bus
from penstock.bus.consumer import Unprocessable
from penstock.bus.message import Delivered, StoredMessage
from penstock.bus.reader import StreamReader
from penstock.kernel.actor import SYSTEM
from penstock.kernel.errors import Invalid, NotFound, TooManyRequests, Unavailable
from penstock.kernel.ids import derived_id
from penstock.kernel.wire import encode
from penstock.protocol.event_streams import EVENTS
from penstock.resource.ports.runs import RunParameter, Runs, RunTrigger
from penstock.resource.ports.scripts import Actions

_log = structlog.get_logger(__name__)

_TRIES = 5
_PAUSE = 1.0
_CUT_OFF = 503


class EventRuns:
    """Sees to what was triggered."""

    def __init__(self, bus: Bus, triggers: EventTriggerService, actions: Actions, runs: Runs) -> None:
        self._reader = StreamReader(bus)
        self._triggers = triggers
        self._actions = actions
        self._runs = runs

    async def see_to(self, message: Delivered) -> None:
        """Returns when the run has ended, or there is nothing to run."""
        try:
            triggered = msgspec.json.decode(message.data, type=Triggered)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise Unprocessable(str(error)) from None
        tried = message.tries
        while True:
            try:
                if await self._done(triggered, tried):
                    return
                tried += 1
            except (TooManyRequests, Unavailable) as error:
                _log.warning("run of a trigger has to wait", trigger=str(triggered.trigger), reason=error.detail)
            await asyncio.sleep(_PAUSE)

    async def _done(self, triggered: Triggered, tried: int) -> bool:
        """Whether nothing is left to do, after one try. Raises TooManyRequests, Unavailable."""
        try:
            trigger = await self._triggers.get(triggered.trigger)
        except NotFound:
            return True
        event = await self._event(triggered.sequence)
        if not trigger.is_enabled or event is None:
            _log.info("event triggers nothing any more", trigger=str(trigger.key), sequence=triggered.sequence)
            return True
        id = derived_id(event.time, "event trigger", trigger.key, event.sequence)
        if tried > _TRIES and await self._runs.recorded(id) is not None:
            _log.error("run of a trigger is given up", trigger=str(trigger.key), run=str(id))
            return True
        return await self._run(trigger, event, id)

    async def _run(self, trigger: StoredEventTrigger, event: StoredMessage, id: UUID) -> bool:
        """Whether the run has ended, and not been cut off."""
        origin = RunTrigger(TYPE, str(trigger.key))
        values: Sequence[RunParameter] = ()
        try:
            values = _values(trigger.parameters or (), msgspec.json.decode(event.data))
            run = await self._actions.start(trigger.action_id, values, origin, SYSTEM, id)
            return (await run.answer()).status_code != _CUT_OFF
        except Invalid as error:
            await self._actions.refuse(trigger.action_id, values, origin, SYSTEM, str(error), id)
        except NotFound as error:
            _log.warning("action of a trigger is gone", trigger=str(trigger.key), reason=error.detail)
        return True

    async def _event(self, sequence: int) -> StoredMessage | None:
        found = await self._reader.after(EVENTS, sequence - 1, count=1)
        return found[0] if found and found[0].sequence == sequence else None


def _values(parameters: Sequence[EventTriggerParameter], event: Any) -> Sequence[RunParameter]:
    """Raises Invalid when a path selects nothing."""
    return [RunParameter(name=each.name, value_json=_value_json(each, event)) for each in parameters]


def _value_json(parameter: EventTriggerParameter, event: Any) -> str | None:
    if parameter.json_path is None:
        return parameter.value_json
    path = json_path(parameter.json_path)
    try:
        value = path.value(event)
    except ValueError as error:
        raise Invalid.one(f"Parameters.{parameter.name}", str(error)) from None
    if value is None and not path.matches(event):
        message = f"the event has nothing at {parameter.json_path}"
        raise Invalid.one(f"Parameters.{parameter.name}", message)
    return encode(value).decode()
