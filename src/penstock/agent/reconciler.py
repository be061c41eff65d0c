"""Compares what the servers want with what the agent has, and has the difference made."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

import structlog

from penstock.agent.access import Access
from penstock.agent.database import Database
from penstock.agent.desired import read_items, read_names
from penstock.agent.flow_queue import FlowQueue
from penstock.agent.keeper import FlowKeeper
from penstock.agent.ledger import Ledger
from penstock.agent.uplink import Uplink
from penstock.kernel.errors import PenstockError, Unavailable
from penstock.protocol import subjects
from penstock.protocol.work import Digest, DigestQuery, WorkAnswer, WorkItem, WorkQuery

_GATHER_SECONDS = 0.03
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 3.0
_AT_ONCE = 200
_log = structlog.get_logger(__name__)


class Reconciler:
    """`serve` runs as a task; `notice` tells it that something changed."""

    def __init__(self, keeper: FlowKeeper, ledger: Ledger, database: Database, uplink: Uplink, access: Access) -> None:
        self._keeper = keeper
        self._ledger = ledger
        self._database = database
        self._uplink = uplink
        self._access = access
        self._queue = FlowQueue(self._failed)
        self._stamps: dict[str, str] = {}
        """Of each flow as it is, or will be once its change is through."""
        self._noticed = asyncio.Event()
        self._names: set[str] = set()
        self._all = True

    def notice(self, names: Sequence[str]) -> None:
        """names: the work that changed; empty: all of it may have."""
        self._names.update(names)
        self._all = self._all or not names
        self._noticed.set()

    def crashed(self, flow: str, version: str, reason: str) -> None:
        """An engine told that this version of the flow cannot go on."""
        self._queue.offer(flow, partial(self._keeper.crashed, flow, version, reason))

    async def restart(self, flow: str) -> None:
        """It is time to start a flow again that crashed."""
        self._queue.offer(flow, partial(self._keeper.restart, flow))

    async def serve(self) -> None:
        """Takes up what was there, then follows the servers, until cancelled."""
        async with self._queue:
            await self._resume()
            pause = _FIRST_PAUSE
            while True:
                await self._next_notice()
                names, everything = self._take()
                try:
                    await (self._compare() if everything else self._fetch(sorted(names)))
                    pause = _FIRST_PAUSE
                except PenstockError as error:
                    log = _log.warning if pause == _FIRST_PAUSE else _log.debug
                    log("the servers' wishes cannot be heard, trying again", reason=str(error))
                    self.notice([] if everything else sorted(names))
                    await asyncio.sleep(pause)
                    pause = min(pause * 2, _LONGEST_PAUSE)

    async def _resume(self) -> None:
        names = await self._database.run(read_names)
        for some in _chunks(names):
            for item in await self._database.run(partial(read_items, flows=some)):
                self._stamps[item.name] = item.stamp
                await self._queue.put(item.name, partial(self._change, self._keeper.resume, item))
        await self._queue.done()
        if names:
            _log.info("took up the work from before", flows=len(names))

    async def _next_notice(self) -> None:
        """Returns when something changed, with what changed at the same time, or when it is time to look again."""
        try:
            async with asyncio.timeout(self._access.resync_seconds):
                await self._noticed.wait()
        except TimeoutError:
            self._all = True
            return
        await asyncio.sleep(_GATHER_SECONDS)

    def _take(self) -> tuple[set[str], bool]:
        names, everything = self._names, self._all
        self._names, self._all = set(), False
        self._noticed.clear()
        return names, everything

    async def _compare(self) -> None:
        """Makes all as the servers want it."""
        if self._access.deprecated:
            await self._remove(list(self._stamps), {})
            return
        wanted = await self._digest()
        changed = [name for name, stamp in wanted.items() if self._stamps.get(name) != stamp]
        gone = [name for name in self._stamps if name not in wanted]
        unchanged = [name for name in self._ledger.gaps() if name in wanted and wanted[name] == self._stamps.get(name)]
        for some in _chunks(unchanged):
            await self._ledger.settle(some)
        await self._fetch([*changed, *gone])

    async def _digest(self) -> dict[str, str]:
        wanted: dict[str, str] = {}
        after: str | None = None
        while True:
            page = await self._uplink.ask(subjects.DIGEST, DigestQuery(after=after), Digest)
            wanted.update((entry.name, entry.stamp) for entry in page.entries)
            if page.next is None:
                return wanted
            after = page.next

    async def _fetch(self, names: Sequence[str]) -> None:
        """Asks for the items and has each flow changed to what its item says."""
        for some in _chunks(names):
            left: Sequence[str] = some
            while left:
                left = await self._fetch_some(left)

    async def _fetch_some(self, names: Sequence[str]) -> Sequence[str]:
        """Answers the names that the servers left for another question."""
        answer = await self._uplink.ask(subjects.WORK, WorkQuery(names=list(names)), WorkAnswer)
        if len(answer.left) >= len(names):
            raise Unavailable("The servers leave all work for later")
        for item in answer.items:
            if self._stamps.get(item.name) != item.stamp:
                self._stamps[item.name] = item.stamp
                await self._queue.put(item.name, partial(self._change, self._keeper.apply, item))
        await self._remove(set(names) - {item.name for item in answer.items} - set(answer.left), answer.ended)
        return answer.left

    async def _remove(self, names: Collection[str], ended: Mapping[str, datetime]) -> None:
        for name in names:
            if self._stamps.pop(name, None) is not None:
                await self._queue.put(name, partial(self._keeper.remove, name, ended.get(name)))

    async def _change(self, make: Callable[[WorkItem], Awaitable[bool]], item: WorkItem) -> None:
        if not await make(item):
            self._failed(item.name)

    def _failed(self, flow: str) -> None:
        """The flow is not as it should be: it is tried again when all is compared."""
        self._stamps[flow] = ""


def _chunks(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE))
