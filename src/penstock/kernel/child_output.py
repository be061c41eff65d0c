"""What child processes write."""

import asyncio
from collections.abc import AsyncIterator


async def lines(output: asyncio.StreamReader | None) -> AsyncIterator[bytes]:
    """Line by line until it is closed. Lines longer than the reader's limit tell nobody anything and are left out."""
    while output is not None:
        try:
            line = await output.readline()
        except ValueError:
            continue
        if not line:
            return
        yield line
