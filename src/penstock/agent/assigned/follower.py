"""Compares the work of a kind that the servers want with what the agent has, and has the difference made."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from uuid import UUID

import structlog

from penstock.agent.access import Access
from penstock.agent.assigned.kind import Keeper
from penstock.agent.uplink import Uplink
from penstock.kernel.errors import Invalid, PenstockError
from penstock.protocol.assignment import AssignmentAnswer, AssignmentItem, AssignmentQuery

_GATHER_SECONDS = 0.03
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 15.0
_SIDE_BY_SIDE = 32
_log = structlog.get_logger(__name__)


class Follower:
    """`serve` runs as a task; `notice` tells it that something may have changed."""

    def __init__(self, kind: str, keeper: Keeper, uplink: Uplink, access: Access) -> None:
        self._kind = kind
        self._keeper = keeper
        self._uplink = uplink
        self._access = access
        self._noticed = asyncio.Event()

    def notice(self) -> None:
        """Work of the kind may have changed."""
        self._noticed.set()

    async def serve(self) -> None:
        """Takes up what was there, then follows the servers, until cancelled."""
        await self._keeper.resume()
        pause = _FIRST_PAUSE
        while True:
            await self._next_notice()
            try:
                await self._compare()
                pause = _FIRST_PAUSE
            except PenstockError as error:
                _log.warning("work cannot be asked for, trying again", kind=self._kind, reason=str(error))
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
                self.notice()

    async def _next_notice(self) -> None:
        try:
            async with asyncio.timeout(self._access.resync_seconds):
                await self._noticed.wait()
        except TimeoutError:
            return
        await asyncio.sleep(_GATHER_SECONDS)
        self._noticed.clear()

    async def _compare(self) -> None:
        changed, unchanged = ([], set()) if self._access.deprecated else await self._wanted()
        gone = set(self._keeper.known) - unchanged - {item.key for item in changed}
        await _side_by_side([partial(self._keeper.remove, key) for key in gone])
        await _side_by_side([partial(self._apply, item) for item in changed])

    async def _apply(self, item: AssignmentItem) -> None:
        try:
            await self._keeper.apply(item)
        except Invalid as error:  # asked for again at the next resync
            _log.error("work cannot be read", kind=self._kind, key=str(item.key), reason=str(error))

    async def _wanted(self) -> tuple[list[AssignmentItem], set[UUID]]:
        """The items that are new or have changed, and those that stay as they are."""
        stamps = {str(key): stamp for key, stamp in self._keeper.stamps.items()}
        changed: list[AssignmentItem] = []
        unchanged: set[UUID] = set()
        query = AssignmentQuery(stamps=stamps)
        while True:
            page = await self._uplink.ask(self._kind, query, AssignmentAnswer)
            changed += page.items
            unchanged.update(page.unchanged)
            if page.next is None:
                return changed, unchanged
            query = AssignmentQuery(after=page.next, stamps=stamps)


async def _side_by_side(changes: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """Makes changes of different items, so that one whose end takes long holds up no other.

    Raises a PenstockError of one of them, after all have been tried.
    """
    turns = asyncio.Semaphore(_SIDE_BY_SIDE)
    errors: list[PenstockError] = []

    async def make(change: Callable[[], Awaitable[None]]) -> None:
        async with turns:
            try:
                await change()
            except PenstockError as error:
                errors.append(error)

    async with asyncio.TaskGroup() as group:
        for change in changes:
            group.create_task(make(change))
    if errors:
        raise errors[0]
