"""Takes the files of a folder through a route, one after the other."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import msgspec

from penstock.egress.local_folders import LocalFolders
from penstock.flow.body import body_of
from penstock.flow.exchange import Exchange
from penstock.flow.files import file_store
from penstock.flow.files.file_filter import FileFilter
from penstock.flow.files.file_order import FileOrder
from penstock.flow.files.file_store import FileOperationFailed, FoundFile
from penstock.flow.intake import Intake
from penstock.flow.listener import Level
from penstock.flow.poller import After
from penstock.flow.simple import DynamicText
from penstock.kernel.errors import PenstockError

_REMEMBERED = 50_000


Take = Callable[[Exchange, After], Awaitable[None]]


class Settling(msgspec.Struct, frozen=True):
    """How a file shows that nobody writes to it any more: it is the same after `interval`, within `patience`.

    age: since it was changed last. size: in bytes, at least.
    """

    interval: timedelta
    patience: timedelta
    age: timedelta
    size: int


class FileRules(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to which files.

    deepest: 1 for the folder alone. charset: None for text in UTF-8, or bytes. done_name: of the file that says that
    another one is complete. target, failed_target: where a file goes afterwards; None leaves it where it is.
    """

    wanted: FileFilter
    order: FileOrder
    deepest: int = 1
    charset: str | None = None
    settling: Settling | None = None
    done_name: str = ""
    delete: bool = False
    target: DynamicText | None = None
    failed_target: DynamicText | None = None
    idempotent: bool = False
    idempotent_key: DynamicText | None = None
    most_per_poll: int = 0


class FileIntake:
    """One `from: file`. folder: checked, without links. take: takes an exchange through the route."""

    def __init__(self, intake: Intake, folder: Path, rules: FileRules, take: Take) -> None:
        self._intake = intake
        self._take = take
        self._folder = folder
        self._rules = rules
        self._seen: dict[str, None] = {}

    async def poll(self) -> None:
        """Takes what is there now. Raises FileOperationFailed when the folder cannot be read."""
        files = await self._found()
        for index, file in enumerate(files):
            if not await self._is_ready(file):
                continue
            exchange = await self._exchange(file)
            if exchange is None:
                continue
            exchange.properties |= {
                "CamelBatchIndex": index,
                "CamelBatchSize": len(files),
                "CamelBatchComplete": index == len(files) - 1,
            }
            await self._take(exchange, partial(self._finish, file))

    async def _found(self) -> Sequence[FoundFile]:
        rules = self._rules
        try:
            found = await asyncio.to_thread(self._complete)
        except OSError as error:
            raise FileOperationFailed(f"Cannot list files in {self._folder}: {error.strerror or error}") from None
        if rules.idempotent and rules.idempotent_key is None:
            found = [file for file in found if str(file.path) not in self._seen]
        found = rules.order.sorted(found)
        return found[: rules.most_per_poll] if rules.most_per_poll else found

    def _complete(self) -> list[FoundFile]:
        """The files that are wanted, and said to be complete."""
        found = file_store.find(self._folder, self._rules.deepest, self._rules.wanted)
        return [file for file in found if self._done_file(file).is_file()] if self._rules.done_name else found

    async def _is_ready(self, file: FoundFile) -> bool:
        settling = self._rules.settling
        if settling is None:
            return True
        waited = timedelta()
        while waited <= settling.patience:
            before = file
            await asyncio.sleep(settling.interval.total_seconds())
            waited += settling.interval
            now = self._intake.clock.now().timestamp()
            old_enough = now - before.modified / 1e9 >= settling.age.total_seconds()
            if before.is_unchanged():
                return old_enough and before.size >= settling.size
            try:
                status = file.path.lstat()
            except FileNotFoundError:
                return False
            file = file._replace(size=status.st_size, modified=status.st_mtime_ns)
        self._log(Level.WARN, f"File {file.path} is still being written to; it is looked at again")
        return False

    async def _exchange(self, file: FoundFile) -> Exchange | None:
        """The file as a message; None when it is to be left out."""
        exchange = self._intake.exchange()
        _describe(exchange, file)
        if self._rules.idempotent_key is not None:
            key = await self._rules.idempotent_key.evaluate_text(exchange, self._intake.flow)
            if key in self._seen:
                return None
        try:
            content = await asyncio.to_thread(file_store.read, file.path, self._intake.flow.surroundings.most)
        except FileOperationFailed as error:
            self._log(Level.WARN, error.detail, error)
            return None
        charset = self._rules.charset
        exchange.body = body_of(content, f"text/plain; charset={charset}" if charset else "")
        if exchange.body is None:
            exchange.body = ""
        return exchange

    async def _finish(self, file: FoundFile, exchange: Exchange) -> None:
        """What becomes of the file after its exchange."""
        try:
            await self._disposed(file, failed=exchange.error is not None)
        except PenstockError as error:
            self._log(Level.WARN, error.detail, error)

    async def _disposed(self, file: FoundFile, *, failed: bool) -> None:
        rules = self._rules
        if failed:
            if rules.failed_target is not None:
                await self._move(file, rules.failed_target)
            return
        if rules.idempotent:
            await self._remember(file)
        if rules.done_name:
            await asyncio.to_thread(file_store.remove, self._done_file(file))
        if rules.delete:
            await asyncio.to_thread(file_store.remove, file.path)
        elif rules.target is not None:
            await self._move(file, rules.target)

    async def _remember(self, file: FoundFile) -> None:
        key = str(file.path)
        if self._rules.idempotent_key is not None:
            key = await self._rules.idempotent_key.evaluate_text(self._described(file), self._intake.flow)
        self._seen[key] = None
        if len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]

    async def _move(self, file: FoundFile, target: DynamicText) -> None:
        flow = self._intake.flow
        name = await target.evaluate_text(self._described(file), flow)
        path = await asyncio.to_thread(moved_path, self._folder, name, flow.surroundings.folders)
        await asyncio.to_thread(file_store.move, file.path, path)

    def _described(self, file: FoundFile) -> Exchange:
        """An exchange that expressions on the file's name are evaluated with, whatever the route made of its own."""
        exchange = self._intake.exchange()
        _describe(exchange, file)
        return exchange

    def _done_file(self, file: FoundFile) -> Path:
        only = file.path.name
        name = self._rules.done_name.replace("${file:name}", only).replace("${file:onlyname}", only)
        for function in ("${file:name.noext}", "${file:onlyname.noext}"):
            name = name.replace(function, only.rpartition(".")[0] or only)
        return file.path.with_name(os.path.basename(name))

    def _log(self, level: Level, message: str, error: BaseException | None = None) -> None:
        self._intake.flow.log(level, message, self._intake.route, None, error)


def moved_path(folder: Path, name: str, folders: LocalFolders) -> Path:
    """Where a file goes: a whole path, or one below the folder. Raises Forbidden."""
    if name.startswith("/"):
        path = Path(os.path.normpath(name))
        return folders.check(path.parent) / path.name
    return folders.within(folder, name)


def _describe(exchange: Exchange, file: FoundFile) -> None:
    headers = exchange.headers
    headers["CamelFileNameOnly"] = file.path.name
    headers["CamelFileName"] = headers["CamelFileNameConsumed"] = headers["CamelFileRelativePath"] = file.name
    headers["CamelFileAbsolute"] = True
    headers["CamelFileAbsolutePath"] = headers["CamelFilePath"] = str(file.path)
    headers["CamelFileParent"] = str(file.path.parent)
    headers["CamelFileLength"] = file.size
    headers["CamelFileLastModified"] = headers["CamelMessageTimestamp"] = file.modified // 1_000_000
