"""Waiting for what the application does by itself."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def until(condition: Callable[[], Awaitable[T]], seconds: float = 20) -> T:
    """What `condition` answers once it is true; fails the test when it does not become so."""
    async with asyncio.timeout(seconds):
        while not (found := await condition()):
            await asyncio.sleep(0.02)
    return found
