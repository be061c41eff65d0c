"""Work beside requests: new packages installed."""

from uuid import UUID

from penstock.areas.apipackages.service import TOPIC, ApiPackageService
from penstock.bus.bus import Bus
from penstock.bus.consumer import Consumer
from penstock.bus.due import Due, due_consumer
from penstock.bus.message import Delivered
from penstock.resource.area import Worker

_INSTALLATIONS = 2
_INSTALLATION_SECONDS = 60.0


class ApiPackageInstaller(Worker):
    """Installs new packages; any replica may."""

    def __init__(self, bus: Bus, packages: ApiPackageService) -> None:
        self._bus = bus
        self._packages = packages

    async def run(self) -> None:
        await Due(self._bus).ensure()
        for id in await self._packages.unfinished():
            await self._packages.schedule(id)
        spec = due_consumer(TOPIC, ack_seconds=_INSTALLATION_SECONDS)
        await Consumer(self._bus, spec).run(self._install, concurrency=_INSTALLATIONS, ahead=_INSTALLATIONS)

    async def _install(self, message: Delivered) -> None:
        await self._packages.install(UUID(message.data.decode()))
