"""What installations may set about agents."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class AgentPolicy:
    """Intervals, lifetimes and addresses.

    missed_pings: after how many an agent counts as offline.
    history: an agent's status is kept on each change and at least this often.
    bus_credential: how long an agent's bus credential holds; agents fetch a new one before it ends.
    server_address: where agents reach the server; empty is the address of the request that asks.
    bus_servers: where agents reach the bus.
    """

    ping_seconds: float = 10.0
    missed_pings: int = 3
    resync_seconds: float = 30.0
    registration: timedelta = timedelta(hours=24)
    history: timedelta = timedelta(minutes=5)
    bus_credential: timedelta = timedelta(days=7)
    server_address: str = ""
    bus_servers: Sequence[str] = ()

    @property
    def silence(self) -> timedelta:
        """How long an online agent may be silent."""
        return timedelta(seconds=self.ping_seconds * self.missed_pings)
