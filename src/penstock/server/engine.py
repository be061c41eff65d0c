"""The interactive engine of a server: its own child, or workers elsewhere on the bus."""

import os
from collections.abc import Sequence
from contextlib import AsyncExitStack

from penstock.bus.bus import Bus
from penstock.bus.credentials import BusKeys
from penstock.engine.client import EngineClient
from penstock.engine.embedded import EmbeddedEngine
from penstock.engine.settings import PREFIX, engine_settings
from penstock.resource.area import Stopping
from penstock.server.settings import ServerSettings


def engine_client(
    settings: ServerSettings,
    bus: Bus,
    keys: BusKeys,
    servers: str | Sequence[str],
    stopping: Stopping,
    stack: AsyncExitStack,
) -> EngineClient:
    """An engine of its own is started when it is first needed. Raises Invalid naming a bad setting of the engine."""
    own = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    engine_settings(own)
    if settings.engine == "external":
        return EngineClient(bus, _nothing, stopping)
    addresses = [servers] if isinstance(servers, str) else list(servers)
    engine = EmbeddedEngine(os.environ, settings.folder / "engine", addresses, keys.engine_user(None))
    stack.push_async_callback(engine.close)
    return EngineClient(bus, engine.ensure, stopping)


async def _nothing() -> None:
    """Workers elsewhere are started elsewhere."""
