"""Message streams: what schedules, channels and sources leave behind, read and followed."""

from penstock.areas.streams.http import StreamOperations
from penstock.areas.streams.service import StreamService
from penstock.resource.area import Area

AREA = Area("streams", services=(StreamService,), handlers=(StreamOperations,))
