"""What an orchestrator or a monitoring system asks."""

from penstock.bus.bus import Bus
from penstock.kernel.actor import Role
from penstock.kernel.wire import Wire, encode
from penstock.resource.answer import File
from penstock.resource.operation import JSON, Answer, operation
from penstock.server.metrics import exposition
from penstock.store.store import Store


class Readiness(Wire):
    """Whether the parts that answers need are there."""

    ready: bool
    database: bool
    bus: bool


class Health:
    """Liveness, readiness and metrics."""

    def __init__(self, store: Store, bus: Bus) -> None:
        self._store = store
        self._bus = bus

    @operation("GET", "/healthz", beyond=True)
    async def alive(self) -> str:
        """Whether the process answers at all."""
        return "ok"

    @operation("GET", "/readyz", beyond=True)
    async def ready(self) -> Answer:
        """Whether requests can be served: database and bus answer. 503 while one of them is away."""
        database, bus = await self._store.ready(), self._bus.connected
        readiness = Readiness(ready=database and bus, database=database, bus=bus)
        return Answer(200 if readiness.ready else 503, encode(readiness), JSON)

    @operation("GET", "/metrics", Role.READER, beyond=True)
    async def metrics(self) -> File:
        """Metrics in the Prometheus exposition format."""
        content, media_type = exposition()
        return File(content, media_type)
