"""The agent's sign of life: what it is, what it offers, and the flows in which something happened."""

import asyncio

from penstock.agent.access import Access
from penstock.agent.build import BUILD_VERSION, build_date
from penstock.agent.capabilities import Capabilities
from penstock.agent.endpoints.endpoints import Endpoints
from penstock.agent.flow_vitals import FlowVitals
from penstock.agent.settings import AgentSettings
from penstock.agent.uplink import Uplink
from penstock.protocol.capability import AgentCapability
from penstock.protocol.status import AgentStatusPing

_LOOK_SECONDS = 1.0
_APART_SECONDS = 0.2


class Pinger:
    """Pings at each interval, at once after a connect, and when the capabilities have changed."""

    def __init__(
        self,
        settings: AgentSettings,
        capabilities: Capabilities,
        access: Access,
        uplink: Uplink,
        vitals: FlowVitals,
        endpoints: Endpoints,
    ) -> None:
        self._settings = settings
        self._capabilities = capabilities
        self._access = access
        self._uplink = uplink
        self._vitals = vitals
        self._endpoints = endpoints
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
                await asyncio.sleep(_APART_SECONDS)  # what changes meanwhile goes together
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
            endpoints=self._endpoints.told(),
            system_status=self._endpoints.together,
            available_apis=self._endpoints.apis(),
            capabilities=capabilities,
            build_version=BUILD_VERSION,
            build_date=build_date(),
            agent_name=self._settings.name,
            pool_name=self._settings.pool or None,
            base_address=self._endpoints.base_address,
            integration_flow_status_list=self._vitals.told(),
        )
