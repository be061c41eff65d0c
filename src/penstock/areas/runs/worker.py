"""Work beside the requests: runs, and the end of those whose server is gone."""

import asyncio

from penstock.areas.runs.service import Accepted, RunService
from penstock.bus.bus import Bus, Received
from penstock.engine.turns import Turns
from penstock.kernel.errors import Unavailable
from penstock.resource.area import Worker

_AT_ONCE = 256
_LOOK_SECONDS = 10.0
_ASK_SECONDS = 2.0
_GONE = "the server that ran it was ended"


class RunWorker(Worker):
    """Carries out what was accepted; the engine has its own bound on how much at once."""

    def __init__(self, service: RunService) -> None:
        self._service = service
        self._turns = Turns(_AT_ONCE)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                group.create_task(self._carry_out(await self._service.waiting.get()), name="run")

    async def _carry_out(self, accepted: Accepted) -> None:
        async with self._turns.turn(str(accepted.script.id)):
            await self._service.carry_out(accepted)


class LeftoverRuns(Worker):
    """Says on the bus that this server is there, and ends the runs of servers that do not say so."""

    def __init__(self, service: RunService, bus: Bus) -> None:
        self._service = service
        self._bus = bus

    async def run(self) -> None:
        server = self._service.server
        presence = await self._bus.respond(_subject(server), _present, queue=server)
        self._service.present.set()
        try:
            while True:
                await self._look()
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            self._service.present.clear()
            await presence.stop()

    async def _look(self) -> None:
        runs = await self._service.open_runs()
        gone = {server for server in {run.server for run in runs} if not await self._is_there(server)}
        # A bus that carries nothing must not look like servers that are gone.
        if gone and await self._is_there(self._service.server):
            for run in runs:
                if run.server in gone:
                    await self._service.give_up(run, _GONE)

    async def _is_there(self, server: str) -> bool:
        try:
            await self._bus.request(_subject(server), timeout=_ASK_SECONDS)
        except Unavailable:
            return False
        return True


async def _present(_: Received) -> bytes:
    return b""


def _subject(server: str) -> str:
    return f"runs.{server}"
