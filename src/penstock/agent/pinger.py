"""The agent's sign of life: what it is, what it offers, and the flows in which something happened."""

import asyncio
import os
from collections.abc import Iterator
from itertools import islice

from penstock.agent.access import Access
from penstock.agent.build import BUILD_VERSION, build_date
from penstock.agent.capabilities import Capabilities
from penstock.agent.listener import AgentListener
from penstock.agent.settings import AgentSettings
from penstock.agent.uplink import Uplink
from penstock.flow.engine import FlowEngine
from penstock.flow.statistics import age
from penstock.kernel.clock import Clock
from penstock.kernel.errors import NotFound
from penstock.protocol.capability import AgentCapability
from penstock.protocol.status import AgentEndpointManagerStatusEnum2, AgentStatusPing, IntegrationStatus

_FLOWS = 500
_LOOK_SECONDS = 1.0


class Pinger:
    """Pings at each interval, at once after a connect, and when the capabilities have changed."""

    def __init__(
        self,
        settings: AgentSettings,
        capabilities: Capabilities,
        access: Access,
        uplink: Uplink,
        engine: FlowEngine,
        listener: AgentListener,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._capabilities = capabilities
        self._access = access
        self._uplink = uplink
        self._engine = engine
        self._listener = listener
        self._clock = clock
        self._folder = os.getcwd()
        self._soon = asyncio.Event()

    def soon(self) -> None:
        """Pings without waiting for the interval to end."""
        self._soon.set()

    async def serve(self) -> None:
        """Runs until cancelled."""
        told: list[AgentCapability] = []
        next_ping = 0.0
        now = asyncio.get_running_loop().time
        while True:
            capabilities = self._capabilities.current()
            if now() >= next_ping or capabilities != told or self._soon.is_set():
                self._soon.clear()
                await self._uplink.ping(self._status(capabilities))
                told = capabilities
                next_ping = now() + self._access.ping_seconds
            await self._wait(min(_LOOK_SECONDS, max(next_ping - now(), 0.0)))

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._soon.wait()
        except TimeoutError:
            pass

    def _status(self, capabilities: list[AgentCapability]) -> AgentStatusPing:
        return AgentStatusPing(
            agent_id=self._access.agent_id,
            system_status=AgentEndpointManagerStatusEnum2.EMPTY,
            capabilities=capabilities,
            build_version=BUILD_VERSION,
            build_date=build_date(),
            agent_name=self._settings.name,
            pool_name=self._settings.pool or None,
            integration_flow_status_list=list(islice(self._touched(), _FLOWS)),
        )

    def _touched(self) -> Iterator[IntegrationStatus]:
        """The flows in which something happened; those that one ping does not hold come with the next."""
        touched = self._listener.touched
        while touched:
            flow = touched.pop()
            try:
                yield self._flow(flow)
            except NotFound:
                continue  # stopped meanwhile; its state is reported for itself

    def _flow(self, flow: str) -> IntegrationStatus:
        status = self._engine.status(flow)
        return IntegrationStatus(
            integration_name=flow,
            pid=os.getpid(),
            working_directory=self._folder,
            state=status.state,
            up_time=age(self._clock.now() - status.started),
            statistics=status.statistics,
        )
