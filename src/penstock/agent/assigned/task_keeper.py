"""Runs the items of a kind of work, one task each."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Any, Generic, Self, TypeVar
from uuid import UUID

import structlog

from penstock.agent.assigned.book import Book, Drawer, Kept
from penstock.kernel.errors import Invalid
from penstock.kernel.validation import decode_json
from penstock.kernel.wire import Wire
from penstock.protocol.assignment import AssignmentItem

W = TypeVar("W", bound=Wire)
B = TypeVar("B", bound=Book[Any])
_log = structlog.get_logger(__name__)


class TaskKeeper(ABC, Generic[W, B]):
    """See Keeper. Works within `async with`; leaving it ends the tasks, and waits for them.

    body: the Struct of the kind's items.
    """

    body: type[W]

    def __init__(self, drawer: Drawer) -> None:
        self._drawer = drawer
        self._group = asyncio.TaskGroup()
        self._books: dict[UUID, B] = {}
        self._running: dict[UUID, asyncio.Task[None]] = {}
        self._stamps: dict[UUID, str] = {}

    @abstractmethod
    def book(self, key: UUID, kept: Kept | None) -> B:
        """The book of an item: a new one, or what was kept of it."""

    @abstractmethod
    async def run(self, body: W, book: B) -> None:
        """Has the item work, until cancelled. What it raises is logged, and the next resync begins it anew."""

    @abstractmethod
    async def ended_before(self, book: B) -> None:
        """Notes that the item ended with an earlier run of the agent, however that was."""

    @abstractmethod
    async def forget(self, book: B) -> None:
        """Reports that the item is gone: `book.forget` with the last status."""

    @property
    def known(self) -> Collection[UUID]:
        return self._books.keys()

    @property
    def stamps(self) -> Mapping[UUID, str]:
        return self._stamps

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._running.values():
            task.cancel()
        await self._group.__aexit__(kind, error, trace)

    async def resume(self) -> None:
        for key, kept in (await self._drawer.kept()).items():
            book = self._books[key] = self.book(key, kept)
            await self.ended_before(book)
            item = kept.as_item(key)
            if item is None:
                continue
            try:
                self._start(item, self._read(item), book)
            except Invalid as error:  # another version wrote it; the servers tell it again
                _log.warning("kept work cannot be read", kind=self._drawer.kind, key=str(key), reason=str(error))

    async def apply(self, item: AssignmentItem) -> None:
        body = self._read(item)
        await self._stop(item.key)
        await self._drawer.put(item)
        book = self._books.get(item.key)
        if book is None:
            book = self._books[item.key] = self.book(item.key, None)
            await book.note(book.status)
        self._start(item, body, book)

    async def remove(self, key: UUID) -> None:
        await self._stop(key)
        book = self._books.pop(key, None)
        if book is not None:
            await self.forget(book)

    def _read(self, item: AssignmentItem) -> W:
        body: W = decode_json(bytes(item.body), self.body)
        return body

    def _start(self, item: AssignmentItem, body: W, book: B) -> None:
        self._stamps[item.key] = item.stamp
        name = f"{self._drawer.kind} {item.key}"
        self._running[item.key] = self._group.create_task(self._run(item.key, body, book), name=name)

    async def _stop(self, key: UUID) -> None:
        self._stamps.pop(key, None)
        task = self._running.pop(key, None)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})

    async def _run(self, key: UUID, body: W, book: B) -> None:
        try:
            await self.run(body, book)
        except Exception as error:  # noqa: BLE001 - one item must not end the others; the resync begins it again
            _log.error("work ended", kind=self._drawer.kind, key=str(key), exc_info=error)
            self._stamps.pop(key, None)
