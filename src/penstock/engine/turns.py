"""Whose turn it is to run, when there are fewer places than runs."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class Turns:
    """Places for runs, given in the order asked for, except that no party takes the last ones.

    A quarter of the places is for parties that have none: one whose runs never end cannot keep all others from running.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._spared = places // 4
        self._running: Counter[str | None] = Counter()
        self._waiting: list[tuple[str | None, asyncio.Future[None]]] = []

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    @property
    def are_taken(self) -> bool:
        """Whether whoever asks now may have to wait."""
        return bool(self._waiting) or self._free <= self._spared

    @asynccontextmanager
    async def turn(self, party: str | None) -> AsyncIterator[None]:
        """A place within the block, once there is one. party: whose runs count together; None for nobody's."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((party, turn))
        self._give()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave(party)
            else:
                with suppress(ValueError):
                    self._waiting.remove((party, turn))
            raise
        try:
            yield
        finally:
            self._leave(party)

    def _leave(self, party: str | None) -> None:
        self._free += 1
        self._running[party] -= 1
        if not self._running[party]:
            del self._running[party]
        self._give()

    def _give(self) -> None:
        while (found := next((each for each in self._waiting if self._may(each[0])), None)) is not None:
            self._waiting.remove(found)
            party, turn = found
            self._free -= 1
            self._running[party] += 1
            turn.set_result(None)

    def _may(self, party: str | None) -> bool:
        return self._free > (self._spared if party is not None and self._running[party] else 0)
