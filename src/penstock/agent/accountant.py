"""Looks after what no event brings up: due times that pass while flows rest."""

import asyncio

from penstock.agent.ledger import Ledger
from penstock.kernel.clock import Clock

_EACH_SECONDS = 60.0
_AT_ONCE = 50


async def tell_passed(ledger: Ledger, clock: Clock) -> None:
    """Each minute: one range for each flow that rests and was due. Until cancelled."""
    while True:
        await asyncio.sleep(_EACH_SECONDS)
        resting = ledger.resting()
        for start in range(0, len(resting), _AT_ONCE):
            await ledger.tell_passed(resting[start : start + _AT_ONCE], clock.now())
            await asyncio.sleep(0)  # thousands of flows must not hold up the loop
