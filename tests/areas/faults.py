"""Faults that tests bring about."""

import os
import signal

from penstock.bus.bus import Bus
from tests.application import Application
from tests.areas.waiting import until


async def kill_bus(application: Application) -> None:
    """Kills the embedded bus server, and returns when the application is connected to the next one."""
    nats, bus = application.platform.nats, application.platform.container.get(Bus)
    assert nats is not None
    assert nats.pid is not None
    os.kill(nats.pid, signal.SIGKILL)

    async def is_connected(wanted: bool) -> bool:
        return bus.connected is wanted

    await until(lambda: is_connected(False))
    await until(lambda: is_connected(True))
