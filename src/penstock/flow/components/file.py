"""`file:DIRECTORY`: files of a folder."""

import asyncio
import codecs
import os
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from msgspec import Meta

from penstock.flow.body import bytes_of
from penstock.flow.component import Consumer, Producer
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange, text_of
from penstock.flow.files import file_store
from penstock.flow.files.file_filter import AntPatterns, FileFilter, NamePattern
from penstock.flow.files.file_intake import FileIntake, FileRules, Settling
from penstock.flow.files.file_order import FileOrder
from penstock.flow.files.file_store import FileExist, FileOperationFailed
from penstock.flow.files.move_target import MoveTarget
from penstock.flow.intake import Intake
from penstock.flow.period import Period
from penstock.flow.poller import Poller
from penstock.flow.simple import DynamicText
from penstock.flow.text import Text

_USE = "the name of a folder"
_DEEPEST = 100


class Charset(str):
    """The name of a character set."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError for one that is not known."""
        try:
            codecs.lookup(text)
        except LookupError:
            raise ValueError("must be a character set like utf-8 or iso-8859-1") from None
        return cls(text)


class ReadLock(StrEnum):
    """How to know that a file is complete."""

    NONE = "none"
    CHANGED = "changed"


class File(Consumer, Producer, frozen=True, kw_only=True):
    """In `from`, each file is an exchange, one after the other; afterwards it is moved, deleted or left alone.
    In `to`, the body is written to a file.

    Files are below the folders that the agent allows; links are not followed. Hidden files are left out. Sets
    CamelFileName, CamelFileNameOnly, CamelFileParent, CamelFilePath, CamelFileLength and CamelFileLastModified, and,
    when it has written, CamelFileNameProduced.
    """

    element = "file"
    path = "directoryName"

    directory_name: Annotated[Text, Meta(description="The folder; a relative one is below the agent's first folder.")]
    charset: Annotated[Charset | None, Meta(description="Of texts; UTF-8 when absent.")] = None
    auto_create: Annotated[bool, Meta(description="Makes folders that are not there.")] = True
    done_file_name: Annotated[
        str,
        Meta(description="A file beside that says that this one is complete: `ready` or `${file:name}.done`."),
    ] = ""

    file_name: Annotated[
        DynamicText | None, Meta(description="In `to`: the name; CamelFileName when absent, else the exchange's id.")
    ] = None
    file_exist: Annotated[FileExist, Meta(description="In `to`: what to do when the file exists.")] = FileExist.OVERRIDE
    temp_prefix: Annotated[
        str, Meta(description="In `to`: writes to a name that begins so, and renames.", pattern=r"^[^/\x00]*$")
    ] = ""
    append_chars: Annotated[str, Meta(description="In `to`: text after each body that is appended.")] = ""
    allow_null_body: Annotated[bool, Meta(description="In `to`: writes an empty file for no body.")] = False

    initial_delay: Annotated[Period, Meta(description="In `from`: time before the first look.")] = Period(seconds=1)
    delay: Annotated[Period, Meta(description="In `from`: time between the end of a look and the next.")] = Period(
        milliseconds=500
    )
    include: Annotated[NamePattern | None, Meta(description="In `from`: regular expression for names to take.")] = None
    exclude: Annotated[NamePattern | None, Meta(description="In `from`: regular expression for names to leave.")] = None
    ant_include: Annotated[
        AntPatterns | None, Meta(description="In `from`: patterns like `*.csv,in/**/*.txt` for paths to take.")
    ] = None
    ant_exclude: Annotated[AntPatterns | None, Meta(description="In `from`: patterns for paths to leave.")] = None
    recursive: Annotated[bool, Meta(description="In `from`: also the folders inside.")] = False
    delete: Annotated[bool, Meta(description="In `from`: deletes a file when it is done.")] = False
    move: Annotated[
        MoveTarget,
        Meta(description="In `from`: where a file goes when it is done: a folder, or a name with functions."),
    ] = MoveTarget(".camel")
    move_failed: Annotated[
        MoveTarget | None, Meta(description="In `from`: where a file goes that failed; it is tried again when absent.")
    ] = None
    noop: Annotated[bool, Meta(description="In `from`: leaves files as they are, and takes each once.")] = False
    idempotent: Annotated[
        bool | None, Meta(description="In `from`: takes each file once, while the flow runs. True with `noop`.")
    ] = None
    idempotent_key: Annotated[
        DynamicText | None, Meta(description="In `from`: what tells files apart; the path when absent.")
    ] = None
    sort_by: Annotated[
        FileOrder, Meta(description="In `from`: the order, like `file:name` or `reverse:file:modified`.")
    ] = FileOrder.parse("file:name")
    max_messages_per_poll: Annotated[int, Meta(description="In `from`: files of one look. 0: all.", ge=0)] = 0
    read_lock: Annotated[
        ReadLock, Meta(description="In `from`: `changed` waits until a file does not change any more.")
    ] = ReadLock.NONE
    read_lock_check_interval: Annotated[Period, Meta(description="Time in which it must not change.")] = Period(
        seconds=1
    )
    read_lock_timeout: Annotated[Period, Meta(description="How long to wait for one file.")] = Period(seconds=10)
    read_lock_min_age: Annotated[Period, Meta(description="Time since it was changed.")] = Period()
    read_lock_min_length: Annotated[int, Meta(description="Bytes it must have.", ge=0)] = 1

    async def start(self, intake: Intake) -> None:
        folder = await self._folder(intake.flow)
        if self.auto_create:
            await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        poller = Poller(intake, self.initial_delay, self.delay)
        poller.start(FileIntake(intake, folder, self._rules(), poller.take).poll)

    def _rules(self) -> FileRules:
        keeps = self.noop or self.delete
        return FileRules(
            wanted=FileFilter(self.include, self.exclude, self.ant_include, self.ant_exclude),
            deepest=_DEEPEST if self.recursive else 1,
            charset=self.charset,
            settling=self._settling(),
            done_name=self.done_file_name,
            delete=self.delete,
            target=None if keeps else self.move.name,
            failed_target=self.move_failed.name if self.move_failed is not None else None,
            idempotent=self.noop if self.idempotent is None else self.idempotent,
            idempotent_key=self.idempotent_key,
            order=self.sort_by,
            most_per_poll=self.max_messages_per_poll,
        )

    def _settling(self) -> Settling | None:
        if self.read_lock is ReadLock.NONE:
            return None
        interval = max(self.read_lock_check_interval, timedelta(milliseconds=10))
        return Settling(interval, self.read_lock_timeout, self.read_lock_min_age, self.read_lock_min_length)

    async def send(self, exchange: Exchange, flow: FlowContext) -> None:
        folder = await self._folder(flow)
        path = await asyncio.to_thread(flow.surroundings.folders.within, folder, await self._name(exchange, flow))
        if exchange.body is None and not self.allow_null_body:
            raise FileOperationFailed(f"Cannot write null body to file: {path}")
        content = bytes_of(exchange.body, self.charset)
        if self.file_exist is FileExist.APPEND:
            content += _unescaped(self.append_chars).encode(self.charset or "utf-8")
        temporary = path.with_name(f"{self.temp_prefix}{path.name}") if self.temp_prefix else None
        await asyncio.to_thread(file_store.write, path, content, self.file_exist, temporary, self.auto_create)
        if self.done_file_name:
            done = await asyncio.to_thread(flow.surroundings.folders.within, folder, self._done_name(folder, path))
            await asyncio.to_thread(file_store.write, done, b"", FileExist.OVERRIDE, None, False)
        exchange.headers["CamelFileNameProduced"] = str(path)

    async def _name(self, exchange: Exchange, flow: FlowContext) -> str:
        overruled = exchange.headers.pop("CamelOverruleFileName", None)
        if overruled is not None:
            return text_of(overruled)
        if self.file_name is not None:
            return await self.file_name.evaluate_text(exchange, flow)
        named = exchange.headers.get("CamelFileName")
        return text_of(named) if named is not None else exchange.id

    def _done_name(self, folder: Path, path: Path) -> str:
        inside = path.parent.relative_to(folder)
        name = self.done_file_name.replace("${file:name}", path.name).replace("${file:name.noext}", path.stem)
        return os.path.join(inside, os.path.basename(name))

    async def _folder(self, flow: FlowContext) -> Path:
        name = await self.directory_name.resolve_public(flow.variables, _USE)
        return await asyncio.to_thread(flow.surroundings.folders.check, name)


def _unescaped(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t")
