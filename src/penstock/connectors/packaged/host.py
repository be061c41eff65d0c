"""The process of a package: loads its kinds and does what the platform asks. Run by the environment's own Python."""

import asyncio
import contextlib
import ctypes
import os
import re
import resource
import signal
import sys
from collections.abc import Callable
from importlib.metadata import Distribution, EntryPoint, distribution
from typing import Any, BinaryIO, cast

import msgspec

from penstock.bus.bus import Bus
from penstock.connectors.component import Apply as ApplyComponent
from penstock.connectors.component import ComponentKind
from penstock.connectors.failure import Undeliverable
from penstock.connectors.kind import Kind
from penstock.connectors.packaged.message import (
    Answered,
    Apply,
    Cancel,
    Describe,
    DescribedKind,
    Description,
    Emitted,
    FromHost,
    Kept,
    Listen,
    Poll,
    Raised,
    ToHost,
    Use,
    framed,
    read_frame,
)
from penstock.connectors.registry import ENTRY_POINTS, Family, built
from penstock.connectors.source import Findings, SourceFailed, SourceKind
from penstock.connectors.source_surroundings import SourceSurroundings
from penstock.connectors.surroundings import Surroundings
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import PenstockError
from penstock.protocol.cloudevent import CloudEvent

_MOST_MEMORY = 1 << 30  # bytes of data
_PR_SET_PDEATHSIG = 1
_decoder = msgspec.msgpack.Decoder(ToHost)


class Host:
    """Answers calls, side by side."""

    def __init__(self, package: str, send: Callable[[FromHost], None]) -> None:
        self._send = send
        self._distribution: Distribution = distribution(package)
        self._kinds: dict[tuple[str, str], type[Kind]] = {}
        self._problems: list[str] = []
        self._running: dict[int, asyncio.Task[None]] = {}
        self._waiting: dict[tuple[int, int], asyncio.Future[None]] = {}
        self._components: dict[bytes, ApplyComponent] = {}
        self._clock = SystemClock()

    def load(self) -> None:
        """Imports the package's kinds; what cannot be used is noted."""
        for point in self._distribution.entry_points.select(group=ENTRY_POINTS):
            try:
                kind = _loaded(point)
            except Exception as error:  # noqa: BLE001 - the package's own code; its description tells
                self._problems.append(f"{point.name}: {type(error).__name__}: {error}")
                continue
            self._kinds[kind.identifier.casefold(), kind.version] = kind

    async def serve(self, reader: asyncio.StreamReader) -> None:
        """Until the platform closes the pipe."""
        async with asyncio.TaskGroup() as group:
            while (body := await read_frame(reader)) is not None:
                self._take(_decoder.decode(body), group)
            for task in self._running.values():
                task.cancel()

    def _take(self, message: ToHost, group: asyncio.TaskGroup) -> None:
        match message:
            case Cancel(call=call):
                if call in self._running:
                    self._running[call].cancel()
            case Kept():
                self._settle(message)
            case Describe() | Poll() | Listen() | Apply():
                self._running[message.call] = group.create_task(self._answer(message))

    def _settle(self, kept: Kept) -> None:
        waiting = self._waiting.pop((kept.call, kept.number), None)
        if waiting is None or waiting.done():
            return
        if kept.reason is None:
            waiting.set_result(None)
        else:
            waiting.set_exception(SourceFailed(kept.reason))

    async def _answer(self, message: Describe | Poll | Listen | Apply) -> None:
        try:
            self._send(Answered(call=message.call, result=await self._result(message)))
        except PenstockError as error:
            self._send(
                Raised(
                    call=message.call,
                    detail=error.detail,
                    known=True,
                    retry_after=getattr(error, "retry_after", None),
                    permanent=isinstance(error, Undeliverable),
                )
            )
        except Exception as error:  # noqa: BLE001 - the package's own code; the platform tells of it
            sys.excepthook(type(error), error, error.__traceback__)
            self._send(Raised(call=message.call, detail=type(error).__name__, known=False))
        finally:
            del self._running[message.call]

    async def _result(self, message: Describe | Poll | Listen | Apply) -> Any:
        match message:
            case Describe():
                return self._description()
            case Poll(use=use):
                source = cast(SourceKind, self._built(use))
                return await source.poll(message.position, self._surroundings(use, message))
            case Listen():
                return await self._listen(message)
            case Apply(use=use):
                event = await self._component(use)(CloudEvent.from_json(message.event))
                return event.to_json() if event is not None else None

    async def _listen(self, message: Listen) -> None:
        source, count = cast(SourceKind, self._built(message.use)), 0

        async def emit(findings: Findings) -> None:
            nonlocal count
            count += 1
            kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting[message.call, count] = kept
            self._send(Emitted(call=message.call, number=count, findings=findings))
            await kept

        await source.listen(message.position, emit, self._surroundings(message.use, None))
        raise SourceFailed("ended by itself")

    def _description(self) -> Description:
        kinds = [
            DescribedKind(
                family=Family.SOURCE if issubclass(kind, SourceKind) else Family.COMPONENT,
                identifier=kind.identifier,
                version=kind.version,
                description=kind.description(),
                schema=msgspec.json.encode(kind.schema()).decode(),
                requires_polling=getattr(kind, "requires_polling", False),
                stateful=getattr(kind, "stateful", False),
                shared=getattr(kind, "shared", False),
                on_servers=getattr(kind, "on_servers", True),
            )
            for kind in self._kinds.values()
        ]
        return Description(version=self._distribution.version, kinds=kinds, problems=self._problems)

    def _built(self, use: Use) -> Kind:
        kind = self._kinds.get((use.identifier.casefold(), use.version))
        if kind is None:
            raise SourceFailed(f"the package has no {use.identifier} {use.version}")
        use_of_kind: Kind = built(kind, dict(use.configuration))
        return use_of_kind

    def _component(self, use: Use) -> ApplyComponent:
        key = msgspec.json.encode(use)
        if key not in self._components:
            kind = self._built(use)
            if not isinstance(kind, ComponentKind):
                raise Undeliverable(f"{use.identifier} is no component")
            # A component in a package has no bus: nothing of the platform is within its reach.
            around = Surroundings(use.name, cast(Bus, None), AddressGuard(allow_private=use.allow_private), self._clock)
            self._components[key] = kind.start(around)
        return self._components[key]

    def _surroundings(self, use: Use, poll: Poll | None) -> SourceSurroundings:
        due = poll.due if poll is not None else self._clock.now()
        return SourceSurroundings(use.name, due, AddressGuard(allow_private=use.allow_private), self._clock)


def _loaded(point: EntryPoint) -> type[Kind]:
    kind = point.load()
    if not (isinstance(kind, type) and issubclass(kind, SourceKind | ComponentKind)):
        raise TypeError("is no kind of event source or component")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", kind.identifier):
        raise TypeError("its identifier is no name")
    return kind


async def _run(package: str, requests: BinaryIO, answers: BinaryIO) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), requests)

    def send(message: FromHost) -> None:
        answers.write(framed(message))
        answers.flush()

    host = Host(package, send)
    host.load()
    await host.serve(reader)


def main() -> None:
    """Standard input and output are the platform's; what the package prints goes to standard error."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
    requests = os.fdopen(os.dup(0), "rb", buffering=0)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        asyncio.run(_run(sys.argv[1], requests, answers))


if __name__ == "__main__":
    main()
