"""The engine as servers see it: over the bus, wherever its workers are."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from datetime import timedelta

import msgspec
import structlog

from penstock.bus.bus import Bus
from penstock.bus.failure import error_from
from penstock.bus.message import Received
from penstock.engine.inbox import Inbox
from penstock.engine.message import (
    NOBODY_THERE,
    SUBJECT,
    About,
    CompleteRequest,
    Completion,
    Finished,
    Frame,
    FrameReader,
    RunRequest,
    Started,
)
from penstock.engine.places import Places
from penstock.kernel.errors import Unavailable
from penstock.kernel.ids import new_short_id

_log = structlog.get_logger(__name__)
_SILENCE_SECONDS = 15.0
_COMPLETE_SECONDS = 20.0
_QUIET_SECONDS = 0.3
_TRIES = 6
_PLACE_SECONDS = 5.0
_PAUSE = 0.5

Ensure = Callable[[], Awaitable[None]]


class EngineClient:
    """ensure: starts the engine where it is this server's to start; returns at once where it runs.

    stopping: set when the server begins to stop; runs in progress end as unavailable then.
    """

    def __init__(
        self, bus: Bus, ensure: Ensure, stopping: asyncio.Event | None = None, keep: timedelta = timedelta(days=7)
    ) -> None:
        self._bus = bus
        self._ensure = ensure
        self._stopping = stopping or asyncio.Event()
        self._inbox = Inbox(bus)
        self._places = Places(bus, self._place, keep)

    async def run(self, request: RunRequest) -> AsyncGenerator[Frame, None]:
        """What the run shows, then Finished. Leaving early cancels it.

        Raises Unavailable when no worker takes it, or the one that has it falls silent; TooManyRequests.
        """
        for left in reversed(range(_TRIES)):
            await self._ensure()
            subject = f"{SUBJECT}.run"
            if request.notebook is not None:
                subject = f"{SUBJECT}.{await self._places.of(request.notebook)}.run"
            taken = False
            try:
                async with aclosing(_Run(self._bus, self._inbox, subject, request, self._stopping).frames()) as frames:
                    async for frame in frames:
                        taken = True
                        yield frame
                return
            except _NobodyThere:
                if taken or not left:
                    raise Unavailable("no engine takes the run") from None
                await self._forget(request.notebook)
                await asyncio.sleep(_PAUSE)

    async def complete(self, request: CompleteRequest) -> list[Completion]:
        """Raises Unavailable, TooManyRequests."""
        for left in reversed(range(_TRIES)):
            await self._ensure()
            subject = f"{SUBJECT}.{await self._places.of(request.notebook)}.complete"
            try:
                answer = await self._bus.request(subject, msgspec.msgpack.encode(request), timeout=_COMPLETE_SECONDS)
                return msgspec.msgpack.decode(answer.data, type=list[Completion])
            except Unavailable:
                if not left:
                    raise
                await self._forget(request.notebook)
                await asyncio.sleep(_PAUSE)
        raise Unavailable("no engine completes code")

    async def workers(self) -> Sequence[About]:
        """Those that answer; none while an engine that is started when needed is not."""
        found: list[About] = []
        async with self._inbox.answers() as answers:
            await self._bus.notify(f"{SUBJECT}.about", reply=answers.reply)
            with suppress(TimeoutError):
                while True:
                    answer = await asyncio.wait_for(answers.arrived.get(), _QUIET_SECONDS)
                    if answer.data:
                        found.append(msgspec.msgpack.decode(answer.data, type=About))
        return sorted(found, key=lambda about: (about.host, about.worker))

    async def _place(self) -> str:
        answer = await self._bus.request(f"{SUBJECT}.place", timeout=_PLACE_SECONDS)
        return answer.data.decode()

    async def _forget(self, notebook: str | None) -> None:
        if notebook is not None:
            await self._places.forget(notebook)


class _NobodyThere(Exception):
    """No worker has taken the request."""


class _Run:
    """One request and the frames that answer it."""

    def __init__(self, bus: Bus, inbox: Inbox, subject: str, request: RunRequest, stopping: asyncio.Event) -> None:
        self._bus = bus
        self._inbox = inbox
        self._subject = subject
        self._request = request
        self._stopping = stopping
        self._worker: str | None = None
        self._ended = False

    async def frames(self) -> AsyncGenerator[Frame, None]:
        reader = FrameReader()
        stopped = asyncio.create_task(self._stopping.wait(), name="stop of the server")
        try:
            async with self._inbox.answers() as answers:
                await self._bus.notify(self._subject, msgspec.msgpack.encode(self._request), reply=answers.reply)
                while not self._ended:
                    frame = reader.read(await self._next(answers.arrived, stopped))
                    if isinstance(frame, Started):
                        self._worker = frame.worker
                    elif frame is not None:
                        self._ended = isinstance(frame, Finished)
                        yield frame
        finally:
            stopped.cancel()
            await self._cancel()

    async def _next(self, arrived: asyncio.Queue[Received], stopped: "asyncio.Task[bool]") -> bytes:
        arriving = asyncio.ensure_future(arrived.get())
        try:
            await asyncio.wait({arriving, stopped}, timeout=_SILENCE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not arriving.done():
                reason = "the server stopped while the run was in progress"
                raise Unavailable(reason if stopped.done() else "the engine fell silent; what ran may have ended well")
            answer = arriving.result()
        finally:
            arriving.cancel()
        if answer.headers.get("Status") == NOBODY_THERE["Status"]:
            raise _NobodyThere
        error = error_from(answer.headers)
        if error is not None:
            self._ended = True
            raise error
        return answer.data

    async def _cancel(self) -> None:
        if not self._ended and self._worker is not None:
            await self._bus.notify(f"{SUBJECT}.{self._worker}.cancel", self._request.id.encode())


def new_run_id() -> str:
    """Unguessable: who knows it may cancel the run."""
    return new_short_id() + new_short_id()
