"""One transfer, from its call to its verified end."""

import asyncio
from enum import StrEnum
from typing import Any

import msgspec

from penstock.rclone.arguments import Arguments
from penstock.rclone.failure import TransferFailed, in_plain_words
from penstock.rclone.log_line import LogLine
from penstock.rclone.remote import Remote
from penstock.rclone.stats import Stats
from penstock.rclone.worker import RcloneEnded, RcloneWorker

_GROUP = "transfer"
_TOLD = 0.25
_PAUSE_BEFORE_RETRY = 1.0
_NAMED = 20


class TransferCommand(StrEnum):
    """What happens to files: copied, copied and those that the source lacks deleted, or moved."""

    COPY = "copy"
    SYNC = "sync"
    MOVE = "move"


class Transfer(msgspec.Struct, frozen=True):
    """What is to be transferred. rules: filters as rclone takes them. force: lifts the bound on what a sync deletes.

    secrets: what must not be told, beside the secrets of the two sides.
    """

    command: TransferCommand
    source: Remote
    destination: Remote
    rules: list[str] = []
    arguments: Arguments = Arguments()
    force: bool = False
    secrets: tuple[str, ...] = ()


class Listener:
    """Is told what happens; neither may wait."""

    def line(self, line: LogLine) -> None:
        """A line that rclone logged, secrets masked."""

    def progress(self, stats: Stats) -> None:
        """How far the transfer is; called now and then."""


async def transfer(worker: RcloneWorker, wanted: Transfer, listener: Listener) -> Stats:
    """Makes the transfer and answers what it counted.

    Raises TransferFailed when a file could not be transferred; the others then were. Whoever cancels this must end
    the worker. Sizes and, where both sides have one in common, checksums of every copied file are compared by rclone
    as it is copied; `verify` compares everything once more.
    """
    run = _Run(worker, wanted, listener)
    try:
        return await run.make()
    except TransferFailed as error:
        raise TransferFailed(in_plain_words(run.masked(error.detail))) from None


class _Run:
    def __init__(self, worker: RcloneWorker, wanted: Transfer, listener: Listener) -> None:
        self._worker = worker
        self._wanted = wanted
        self._listener = listener
        self._secrets = sorted(
            {*wanted.secrets, *wanted.source.secrets, *wanted.destination.secrets}, key=len, reverse=True
        )
        self._failed: dict[str, str] = {}
        self._call: dict[str, Any] = {}

    def masked(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "******")
        return text

    async def make(self) -> Stats:
        arguments = self._wanted.arguments
        source = await self._wanted.source.parameters(self._worker)
        destination = await self._wanted.destination.parameters(self._worker)
        self._secrets += [value for each in (source, destination) for value in self._obscured(each)]
        self._call = {
            "srcFs": source,
            "dstFs": destination,
            "_config": arguments.config,
            "_filter": {**arguments.filter, "FilterRule": self._wanted.rules},
        }
        # The limit is the whole process's; it takes none from a call.
        await self._worker.call("core/bwlimit", {"rate": arguments.bandwidth})
        self._worker.follow(self._line)
        if self._wanted.command is TransferCommand.SYNC and not self._wanted.force:
            await self._refuse_to_empty()
        stats = await self._with_retries()
        if arguments.verify and self._wanted.command is not TransferCommand.MOVE:
            await self._verify()
        return stats

    def _obscured(self, parameters: dict[str, str]) -> list[str]:
        return [parameters[each.name] for each in self._backend_passwords() if parameters.get(each.name)]

    def _backend_passwords(self) -> list[Any]:
        both = (self._wanted.source.backend, self._wanted.destination.backend)
        return [option for backend in both for option in backend.options if option.is_password]

    async def _with_retries(self) -> Stats:
        """rclone's command line tries a transfer with errors again; its remote control does not."""
        left = max(1, self._wanted.arguments.retries)
        while True:
            left -= 1
            self._failed.clear()
            stats, error = await self._attempt({})
            if error is None and not stats.errors:
                return stats
            if not left or stats.fatal_error or (error is not None and not stats.retry_error):
                raise TransferFailed(self._told(error, stats))
            await asyncio.sleep(_PAUSE_BEFORE_RETRY)

    async def _attempt(self, config: dict[str, Any]) -> tuple[Stats, str | None]:
        """Makes the call once; answers what it counted, and why it failed if it did."""
        await self._worker.call("core/stats-delete", {"group": _GROUP})
        parameters = {
            **self._call,
            **self._wanted.arguments.call,
            "_config": {**self._wanted.arguments.config, **config},
            "_group": _GROUP,
        }
        error = await self._outcome(f"sync/{self._wanted.command}", parameters)
        await self._worker.flush()
        stats = await self._stats()
        self._listener.progress(stats)
        return stats, error

    async def _outcome(self, path: str, parameters: dict[str, Any]) -> str | None:
        """Makes the call, which lasts as long as the transfer, and tells its progress; answers why it failed."""
        calling = asyncio.ensure_future(self._worker.call(path, parameters, timeout=None))
        try:
            while not calling.done():
                await asyncio.wait({calling}, timeout=_TOLD)
                if not calling.done():
                    self._listener.progress(await self._stats())
            await calling
        except RcloneEnded:
            raise
        except TransferFailed as error:
            return error.detail
        finally:
            calling.cancel()
            await asyncio.wait({calling})
        return None

    async def _stats(self) -> Stats:
        return msgspec.convert(await self._worker.call("core/stats", {"group": _GROUP, "short": True}), Stats)

    async def _refuse_to_empty(self) -> None:
        """Makes the sync without doing anything, and refuses it when it would delete too much."""
        self._worker.follow(None)
        stats, error = await self._attempt({"DryRun": True})
        if error is not None:
            raise TransferFailed(error)
        if stats.deletes:
            size = await self._worker.call("operations/size", {"fs": self._call["dstFs"]})
            share = self._wanted.arguments.delete_share
            if stats.deletes > share * size["count"]:
                raise TransferFailed(
                    f"the sync would delete {stats.deletes} of {size['count']} files of the destination, more than"
                    f" the share of {share:g} that it may; nothing was changed. Start it with --force, or raise"
                    " --max-delete-share, if that is meant"
                )
        self._worker.follow(self._line)

    async def _verify(self) -> None:
        """Compares the two sides; what the destination has beyond the source does not matter for a copy."""
        one_way = self._wanted.command is TransferCommand.COPY
        found = await self._worker.call("operations/check", {**self._call, "oneWay": one_way, "_group": "verify"})
        await self._worker.flush()
        differing = [*found.get("differ", ()), *found.get("missingOnDst", ()), *found.get("missingOnSrc", ())]
        differing += found.get("error", ())
        if not found.get("success", False) or differing:
            raise TransferFailed(f"after the transfer the two sides differ in: {_some(differing)}")

    def _line(self, line: LogLine) -> None:
        masked = msgspec.structs.replace(line, msg=self.masked(line.msg), object=self.masked(line.object))
        if masked.is_error and masked.object:
            self._failed[masked.object] = masked.msg
        self._listener.line(masked)

    def _told(self, error: str | None, stats: Stats) -> str:
        """Which files failed, and why."""
        if len(self._failed) <= 1:
            return next((f"{name}: {why}" for name, why in self._failed.items()), error or "errors were counted")
        reasons = "; ".join(f"{name}: {why}" for name, why in list(self._failed.items())[:_NAMED])
        more = len(self._failed) - _NAMED
        return f"{len(self._failed)} files failed: {reasons}" + (f"; and {more} more" if more > 0 else "")


def _some(names: list[str]) -> str:
    told = ", ".join(names[:_NAMED])
    return f"{told} and {len(names) - _NAMED} more" if len(names) > _NAMED else told or "nothing that rclone names"
