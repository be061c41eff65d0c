"""Tells the servers how a gateway stands."""

import asyncio
from contextlib import suppress

import structlog

from penstock.gateway.link import Link
from penstock.gateway.table_keeper import TableKeeper
from penstock.kernel.errors import PenstockError
from penstock.protocol.subjects import STANDING

_EVERY_SECONDS = 10.0
_AGAIN_SECONDS = 1.0
_log = structlog.get_logger(__name__)


async def tell_standing(keeper: TableKeeper, link: Link) -> None:
    """At each change and every ten seconds, until cancelled."""
    while True:
        pause = _EVERY_SECONDS
        try:
            await link.report(STANDING, keeper.standing)
        except PenstockError as error:
            _log.debug("standing cannot be told", reason=error.detail)
            pause = _AGAIN_SECONDS
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await keeper.standing_changed()
