"""Work beside the requests: the table made anew at every change, gateways told and answered."""

import asyncio
from contextlib import AsyncExitStack

import msgspec
import structlog

from penstock.areas.apim.keys.renewal import KeyRenewals
from penstock.areas.apim.stored import API_SUBSCRIPTIONS, API_VERSIONS, APIS
from penstock.areas.apim.table.current import CurrentTable
from penstock.areas.apim.table.source import ROUTES, VARIABLES
from penstock.bus.bus import Bus
from penstock.bus.message import Answer, Received
from penstock.kernel.errors import Invalid, Unavailable
from penstock.kernel.wire import encode
from penstock.protocol import subjects
from penstock.protocol.gateway import TableQuestion
from penstock.resource.area import Worker
from penstock.resource.changes import Change, Changes
from penstock.resource.ports.api_usage import USAGE_CHANGES
from penstock.store.store import decode

log = structlog.get_logger(__name__)

FOLLOWED = frozenset(
    (
        APIS.name,
        API_VERSIONS.name,
        API_SUBSCRIPTIONS.name,
        VARIABLES,
        *ROUTES,
        "agents",
        "integration_endpoints",
        "endpoint_agent_states",
        USAGE_CHANGES,
    )
)
_LOOK_SECONDS = 10.0
_AGAIN_SECONDS = 1.0
_GATHER_SECONDS = 0.02
_AT_ONCE = 8


class GatewayTables(Worker):
    """Each replica makes the table by itself. A notice of a change may be lost, so it is also made now and then."""

    def __init__(self, bus: Bus, changes: Changes, table: CurrentTable) -> None:
        self._bus = bus
        self._changes = changes
        self._table = table
        self._changed: dict[str, set[str]] = {}
        self._woken = asyncio.Event()
        self._failed = False

    async def run(self) -> None:
        async with AsyncExitStack() as stack:
            for name in sorted(FOLLOWED):
                stack.push_async_callback((await self._changes.follow(name, self._note)).stop)
            await self._table.refresh()
            asked = subjects.gateway_ask("*", subjects.TABLE)
            answering = await self._bus.respond(asked, self._answer, queue=subjects.SERVERS, concurrency=_AT_ONCE)
            stack.push_async_callback(answering.stop)
            await self._bus.notify(subjects.GATEWAYS_CHANGED)
            while True:
                await self._refresh(everything=not await self._wait())

    async def _note(self, change: Change) -> None:
        self._changed.setdefault(change.collection, set()).update(change.names)
        self._woken.set()

    async def _wait(self) -> bool:
        """Whether something was noted, rather than nothing for a while."""
        try:
            async with asyncio.timeout(_AGAIN_SECONDS if self._failed else _LOOK_SECONDS):
                await self._woken.wait()
        except TimeoutError:
            return False
        await asyncio.sleep(_GATHER_SECONDS)
        return True

    async def _refresh(self, *, everything: bool) -> None:
        changed, self._changed = self._changed, {}
        self._woken.clear()
        try:
            differs = await self._table.refresh(None if everything or self._failed else changed)
        except Unavailable as error:
            log.warning("table for gateways cannot be made now", reason=error.detail)
            self._failed = True
            return
        self._failed = False
        if differs:
            await self._bus.notify(subjects.GATEWAYS_CHANGED)

    async def _answer(self, request: Received) -> Answer:
        # The bus lets a gateway ask on its own subjects only, and brings the answer to nobody else.
        return Answer(encode(self._table.answer(_question(request))))


class KeySealRenewal(Worker):
    """Seals keys anew after the master key was changed; looks once, when the server starts."""

    def __init__(self, renewals: KeyRenewals) -> None:
        self._renewals = renewals

    async def run(self) -> None:
        await self._renewals.renew()
        await asyncio.get_running_loop().create_future()


def _question(request: Received) -> TableQuestion:
    """What a newer gateway adds to it is passed over. Raises Invalid."""
    try:
        return decode(request.data, TableQuestion)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid.one("", f"the question cannot be read: {error}") from None
