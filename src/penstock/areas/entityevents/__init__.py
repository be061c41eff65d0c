"""The entity event store, which is the audit log."""

from penstock.areas.entityevents.http import EntityEventHandlers
from penstock.areas.entityevents.service import EntityEvents
from penstock.resource.area import Area

AREA = Area(name="entityevents", services=(EntityEvents,), handlers=(EntityEventHandlers,))
