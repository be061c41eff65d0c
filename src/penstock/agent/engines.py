"""The agent's engines: each flow runs in one of them at a time."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta

from penstock.flow.any_engine import Engine
from penstock.flow.definition import FlowDefinition
from penstock.flow.running import FlowStatus
from penstock.kernel.errors import NotFound


class Engines:
    """engines: by what a flow's choice calls them."""

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self._engines = engines
        self._where: dict[str, str] = {}

    def version(self, engine: str) -> str:
        """As people are told it."""
        return self._engines[engine].version

    def where(self, flow: str) -> str | None:
        """The engine that the flow runs in; None when it does not run."""
        return self._where.get(flow)

    def status(self, flow: str) -> FlowStatus:
        """Raises NotFound for a flow that does not run."""
        return self._of(flow).status(flow)

    async def start(self, engine: str, definition: FlowDefinition, since: datetime | None = None) -> datetime:
        """See Engine. The flow must not run in another engine."""
        moment = await self._engines[engine].start(definition, since)
        self._where[definition.name] = engine
        return moment

    async def stop(self, flow: str, grace: timedelta) -> None:
        """See Engine."""
        await self._of(flow).stop(flow, grace)
        del self._where[flow]

    async def stop_all(self, grace: timedelta) -> None:
        """Stops every flow, all at the same time."""
        async with asyncio.TaskGroup() as stopping:
            for flow in list(self._where):
                stopping.create_task(self.stop(flow, grace))

    def _of(self, flow: str) -> Engine:
        engine = self._where.get(flow)
        if engine is None:
            raise NotFound(f"flow '{flow}' does not run here")
        return self._engines[engine]
