"""Notice of changes between the parts of the platform, over the bus.

A notice only says that something changed. Whoever needs the state reads it, and reads it again now and then,
so a lost notice delays and never breaks. What must not be lost goes through a stream instead.
"""

from collections.abc import Awaitable, Callable

import msgspec

from penstock.bus.bus import Bus, Received, Subscription
from penstock.kernel.wire import Wire, encode


class Change(Wire):
    """What changed. names: the entities' names or ids; empty when it may be any of the collection."""

    collection: str
    names: list[str]


class Changes:
    """Tells every replica, this one included, that entities of a collection changed."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def tell(self, collection: str, *names: str) -> None:
        """Sends the notice. A bus that is away is no error: readers catch up by their own resync."""
        if self._bus.connected:
            await self._bus.notify(f"changed.{collection}", encode(Change(collection=collection, names=list(names))))

    async def follow(self, collection: str, react: Callable[[Change], Awaitable[None]]) -> Subscription:
        """Calls `react` for each notice of the collection (`*`: of any) until the subscription is stopped."""

        async def handle(received: Received) -> None:
            await react(msgspec.json.decode(received.data, type=Change))

        return await self._bus.subscribe(f"changed.{collection}", handle)
