"""Keeps a channel's pipeline open and replaces it when the channel, or a variable that it names, has changed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

from penstock.areas.eventing.delivery.running_pipeline import Pipelines, RunningPipeline
from penstock.areas.eventing.stored import Channel


class PipelineHost:
    """Opens the pipeline when it is first used. What is under way ends with the pipeline that it began with.

    Each pipeline is held open by a task of its own: those who use it come and go. changed: set at the next change.
    """

    def __init__(self, channel: Channel, pipelines: Pipelines) -> None:
        self.changed = asyncio.Event()
        self._channel = channel
        self._pipelines = pipelines
        self._group = asyncio.TaskGroup()
        self._opening = asyncio.Lock()
        self._held: _Held | None = None

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._retire()
        await self._group.__aexit__(kind, error, trace)

    def change(self, channel: Channel) -> None:
        """From now on another pipeline is used: the channel's, with the variables of now."""
        self._channel = channel
        self._retire()
        self.changed.set()
        self.changed = asyncio.Event()

    @asynccontextmanager
    async def use(self) -> AsyncIterator[RunningPipeline]:
        """Raises what `Pipelines.open` raises."""
        async with self._opening:
            if self._held is None or self._held.ended:
                self._held = held = _Held()
                self._group.create_task(held.run(self._pipelines, self._channel), name=f"pipeline {self._channel.name}")
            held = self._held
            held.enter()
        try:
            yield await held.pipeline
        finally:
            held.leave()

    def _retire(self) -> None:
        if self._held is not None:
            self._held.retire()
            self._held = None


class _Held:
    """A pipeline, and whether it is still needed. ended: it is closed, or could not be opened."""

    def __init__(self) -> None:
        self.pipeline: asyncio.Future[RunningPipeline] = asyncio.get_running_loop().create_future()
        self.ended = False
        self._users = 0
        self._retired = False
        self._over = asyncio.Event()

    async def run(self, pipelines: Pipelines, channel: Channel) -> None:
        """Holds the pipeline open until it is retired and nobody uses it any more."""
        try:
            async with pipelines.open(channel) as pipeline:
                self.pipeline.set_result(pipeline)
                await self._over.wait()
        except Exception as error:
            if self.pipeline.done():
                raise
            self.pipeline.set_exception(error)
        finally:
            self.ended = True

    def enter(self) -> None:
        self._users += 1

    def leave(self) -> None:
        self._users -= 1
        self._close_if_unused()

    def retire(self) -> None:
        self._retired = True
        self._close_if_unused()

    def _close_if_unused(self) -> None:
        if self._retired and not self._users:
            self._over.set()
