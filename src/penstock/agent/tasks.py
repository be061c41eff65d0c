"""Tasks that go on for as long as a block does."""

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self


class Tasks:
    """A TaskGroup whose tasks end with the block: leaving it cancels them; one that fails ends the block."""

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await self._group.__aexit__(kind, error, trace)

    def start(self, *work: Coroutine[Any, Any, None]) -> None:
        self._tasks += [self._group.create_task(each) for each in work]
