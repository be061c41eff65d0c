"""Connections to NATS servers of the flows' own."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import msgspec
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.errors import SlowConsumerError

from penstock.egress.nats_address import NatsAddress
from penstock.egress.nats_flush import flushed
from penstock.flow.context import FlowContext
from penstock.flow.failures.errors import FlowError
from penstock.flow.listener import Level

_FLUSH_SECONDS = 2


class NatsFailed(FlowError):
    """No server can be reached, or it does not do what is asked. Credentials are left out."""

    code = "nats-failed"
    title = "NATS failed"
    java = ("java.io.IOException", "java.util.concurrent.TimeoutException")


class Servers(msgspec.Struct, frozen=True):
    """Where to connect, and how long that may take. Equal ones share a connection within a flow."""

    addresses: tuple[NatsAddress, ...]
    patience: timedelta


class NatsLink:
    """A connection that is made anew when it was lost, each time to an address that was checked.

    The client's own way of reconnecting is not used: it goes wherever a server says that others are.
    """

    def __init__(self, servers: Servers, flow: FlowContext) -> None:
        self._servers = servers
        self._flow = flow
        self._client: Client | None = None
        self._connecting = asyncio.Lock()
        self.lost = asyncio.Event()

    async def client(self) -> Client:
        """Connected. Raises NatsFailed, AddressRefused."""
        async with self._connecting:
            if self._client is None or not self._client.is_connected:
                await self.close()
                self.lost = asyncio.Event()
                self._client = await self._connect(self.lost)
            return self._client

    async def close(self) -> None:
        """Sends what is still to be sent."""
        if self._client is None:
            return
        client, self._client = self._client, None
        with suppress(NatsError, OSError, TimeoutError):
            if client.is_connected:
                await flushed(client, _FLUSH_SECONDS)
        with suppress(NatsError, OSError, TimeoutError):
            await client.close()

    async def _connect(self, lost: asyncio.Event) -> Client:
        async def tell_lost() -> None:
            lost.set()

        reasons = []
        for server in self._servers.addresses:
            client = Client()
            try:
                await client.connect(
                    await server.pinned(self._flow.surroundings.guard),
                    name=f"penstock flow {self._flow.name}",
                    user=server.user if server.password else None,
                    password=server.password or None,
                    token=server.user if server.user and not server.password else None,
                    tls_hostname=server.host,
                    connect_timeout=max(1, round(self._servers.patience.total_seconds())),
                    allow_reconnect=False,
                    max_reconnect_attempts=1,
                    disconnected_cb=tell_lost,
                    closed_cb=tell_lost,
                    error_cb=self._tell,
                )
            except (NatsError, OSError, TimeoutError) as error:
                await client.close()  # nats-py leaves the socket open when the handshake fails
                # Not the error's own text, which may repeat the address with what is in it.
                reasons.append(f"{server.host}:{server.port}: {type(error).__name__}")
            else:
                return client
        raise NatsFailed(f"no NATS server can be reached ({', '.join(reasons)})")

    async def _tell(self, error: Exception) -> None:
        if isinstance(error, SlowConsumerError):
            self._flow.log(Level.WARN, f"Messages of {error.subject} are lost: the flow is too slow for them", "nats")


@asynccontextmanager
async def opened(servers: Servers, flow: FlowContext) -> AsyncIterator[NatsLink]:
    """A link that connects when it is first used."""
    link = NatsLink(servers, flow)
    try:
        yield link
    finally:
        await link.close()


def addresses(text: str) -> Sequence[NatsAddress]:
    """Of servers with commas between; without scheme it is `nats`. Raises ValueError."""
    servers = [server.strip() for server in text.split(",") if server.strip()]
    if not servers:
        raise ValueError("must name a server like 'nats://host:4222'")
    return [NatsAddress.parse(server if "://" in server else f"nats://{server}") for server in servers]
