"""Services on the bus: those that announce themselves are listed, and sent requests."""

from penstock.areas.services.directory import ServiceDirectory
from penstock.areas.services.http import ServiceHandlers
from penstock.resource.area import Area

AREA = Area(name="services", services=(ServiceDirectory,), handlers=(ServiceHandlers,))
