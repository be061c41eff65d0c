"""What an orchestrator or a monitoring system asks."""

from penstock.bus.bus import Bus
from penstock.kernel.actor import Role
from penstock.kernel.errors import Unavailable
from penstock.kernel.wire import Wire
from penstock.resource.answer import File
from penstock.resource.operation import operation
from penstock.server.metrics import exposition
from penstock.store.store import Store


class Readiness(Wire):
    """The parts that answers need, all there."""

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
    async def ready(self) -> Readiness:
        """Whether requests can be served: database and bus answer. 503 while one of them is away."""
        parts = Readiness(database=await self._store.ready(), bus=self._bus.connected)
        away = [name for name, there in (("database", parts.database), ("bus", parts.bus)) if not there]
        if away:
            raise Unavailable(f"away: {', '.join(away)}")
        return parts

    @operation("GET", "/metrics", Role.READER, beyond=True)
    async def metrics(self) -> File:
        """Metrics in the Prometheus exposition format."""
        content, media_type = exposition()
        return File(content, media_type)
