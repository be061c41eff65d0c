"""Things that are open for as long as a flow runs: sessions, connections, processes."""

import asyncio
from collections.abc import Callable, Hashable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar, cast

import structlog

T = TypeVar("T")
_log = structlog.get_logger(__name__)


class Resources:
    """Context managers that are entered when somebody asks for them, each by one key, and left by `close`.

    Each is entered and left by a task of its own, as those that hold task groups or time limits need it.
    """

    __slots__ = ("_held", "_tasks")

    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self._tasks = tasks
        self._held: dict[Hashable, _Held] = {}

    def __bool__(self) -> bool:
        return bool(self._held)

    async def get(self, key: Hashable, enter: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        """What the context manager gives. Raises what it raises."""
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = _Held()
            held.task = self._tasks.create_task(held.hold(enter()))
        try:
            return cast(T, await asyncio.shield(held.value))
        except Exception:
            if self._held.get(key) is held:
                del self._held[key]
            raise

    async def close(self) -> None:
        """Leaves all of them, the last one first."""
        while self._held:
            _, held = self._held.popitem()
            held.release.set()
            if held.task is not None:
                await asyncio.wait({held.task})


class _Held:
    """One context manager, and the task that is within it."""

    __slots__ = ("release", "task", "value")

    def __init__(self) -> None:
        self.value: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.release = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    async def hold(self, manager: AbstractAsyncContextManager[Any]) -> None:
        try:
            async with manager as value:
                self.value.set_result(value)
                await self.release.wait()
        except asyncio.CancelledError:
            self.value.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - told to who asked, else logged: it must not end the engine
            if self.value.done():
                _log.warning("A flow's resource failed", exc_info=error)
            else:
                self.value.set_exception(error)
                self.value.exception()  # whoever asked may have gone
