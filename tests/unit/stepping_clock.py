"""A clock that can be set, as people and time servers do it, or stand still while the machine sleeps."""

from datetime import timedelta

from penstock.kernel.clock import ManualClock


class SteppingClock(ManualClock):
    """A ManualClock whose time also jumps."""

    async def step(self, length: timedelta) -> None:
        """Sets the time by `length`, back when negative; whoever is due by then wakes, all at the new time."""
        self._now += length
        await self.advance(timedelta())
