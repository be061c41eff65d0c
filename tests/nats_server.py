"""A running NATS server as tests see it, and what they wait with."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from penstock.bus.bus import Bus
from penstock.bus.credentials import BusKeys, agent_inbox


@dataclass
class NatsServer:
    """A running server and the keys that it trusts."""

    url: str
    keys: BusKeys

    async def connect(self, name: str = "test") -> Bus:
        """A connection with a server's rights."""
        return await Bus.connect(self.url, self.keys.server_user(), name=name)

    async def connect_agent(self, agent_id: UUID, lives: timedelta = timedelta(hours=1)) -> Bus:
        """A connection with the rights of one agent."""
        credential = self.keys.agent_user(agent_id, datetime.now(UTC) + lives)
        return await Bus.connect(self.url, credential, name="agent", inbox_prefix=agent_inbox(agent_id))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def eventually(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Waits until `condition()` is true; fails the test when it does not become so."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)
