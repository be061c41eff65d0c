"""Runs the actions of event triggers.

A message stays unacknowledged until its run has ended, so another replica gets it when this one dies. The run's id
follows from event and trigger: one that ended is not repeated, and one that was cut off goes on under its id.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import msgspec
import structlog

from penstock.areas.triggers.event_matches import Triggered
from penstock.areas.triggers.event_triggers import TYPE, EventTriggerService, json_path
from penstock.areas.triggers.model import EventTriggerParameter
from penstock.areas.triggers.stored import StoredEventTrigger
from penstock.bus.bus import Bus
from penstock.bus.consumer import Later, Unprocessable
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
_PLACES = 64
_LATEST = 10.0
AT_ONCE = _PLACES + 16  # some to look at what has to wait


class EventRuns:
    """Sees to what was triggered."""

    def __init__(self, bus: Bus, triggers: EventTriggerService, actions: Actions, runs: Runs) -> None:
        self._reader = StreamReader(bus)
        self._triggers = triggers
        self._actions = actions
        self._runs = runs
        self._running: Counter[UUID] = Counter()

    async def see_to(self, message: Delivered) -> None:
        """Returns when the run has ended, or there is nothing to run. Raises Later, see `_place`."""
        try:
            triggered = msgspec.json.decode(message.data, type=Triggered)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise Unprocessable(str(error)) from None
        with self._place(triggered.trigger, message.tries):
            await self._until_done(triggered)

    @contextmanager
    def _place(self, trigger: UUID, tries: int) -> Iterator[None]:
        """A place to run. Raises Later for a trigger that has as many as are free, so that others find one."""
        if self._running[trigger] >= _PLACES - self._running.total():
            raise Later(min(tries, _LATEST))
        self._running[trigger] += 1
        try:
            yield
        finally:
            self._running[trigger] -= 1
            if not self._running[trigger]:
                del self._running[trigger]

    async def _until_done(self, triggered: Triggered) -> None:
        while True:
            try:
                if await self._done(triggered):
                    return
            except (TooManyRequests, Unavailable) as error:
                _log.warning("run of a trigger has to wait", trigger=str(triggered.trigger), reason=error.detail)
            await asyncio.sleep(_PAUSE)

    async def _done(self, triggered: Triggered) -> bool:
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
        before = await self._runs.recorded(id)
        if before is not None and before.status_code == _CUT_OFF and before.attempts >= _TRIES:
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
