"""A worker: serves the engine on the bus."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

import msgspec
import structlog

from penstock.bus.bus import Bus
from penstock.bus.failure import error_headers
from penstock.bus.message import Received
from penstock.engine.engine import Engine
from penstock.engine.message import (
    NOBODY_THERE,
    QUEUE,
    SERVICE,
    SUBJECT,
    About,
    Alive,
    CompleteRequest,
    Finished,
    Frame,
    FrameWriter,
    RunRequest,
    Started,
)
from penstock.kernel.errors import Invalid, PenstockError
from penstock.kernel.ids import new_id

_log = structlog.get_logger(__name__)
_ALIVE_SECONDS = 3.0


class Worker:
    """Answers on the subjects that all workers share, and on those of its own id."""

    def __init__(self, bus: Bus, engine: Engine) -> None:
        self.id = new_id().hex
        self._bus = bus
        self._engine = engine
        self._runs: dict[str, asyncio.Task[None]] = {}
        self._begun: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Takes requests within the block; at its end runs in progress are interrupted, and no others begin."""
        own = f"{SUBJECT}.{self.id}"
        ending = False
        async with AsyncExitStack() as stack, asyncio.TaskGroup() as runs:

            async def begin(request: Received) -> None:
                if ending:
                    await self._bus.notify(request.reply, headers=NOBODY_THERE)
                    return
                run = runs.create_task(self._answer_run(request), name="run of a document")
                self._begun.add(run)
                run.add_done_callback(self._begun.discard)

            for subject, handle, queue in (
                (f"{SUBJECT}.run", begin, QUEUE),
                (f"{own}.run", begin, ""),
                (f"{own}.cancel", self._cancel, ""),
            ):
                stack.push_async_callback((await self._bus.subscribe(subject, handle, queue=queue)).stop)
            for subject, queue, respond in (
                (f"{SUBJECT}.place", QUEUE, self._place),
                (f"{SUBJECT}.about", self.id, self._about),
                (f"{own}.complete", self.id, self._complete),
                ("$SRV.INFO", self.id, self._info),
                (f"$SRV.INFO.{SERVICE}", self.id, self._info),
                ("$SRV.PING", self.id, self._info),
            ):
                subscription = await self._bus.respond(subject, respond, queue=queue, concurrency=64)
                stack.push_async_callback(subscription.stop)
            try:
                yield
            finally:
                ending = True
                for run in self._begun:
                    run.cancel()

    async def _place(self, _: Received) -> bytes:
        return self.id.encode()

    async def _about(self, _: Received) -> bytes:
        engine = self._engine
        about = About(
            worker=self.id,
            host=socket.gethostname(),
            running=engine.running,
            waiting=engine.waiting,
            ready=engine.pool.ready,
            notebooks=len(engine.notebooks),
            kernels=await engine.languages.names(),
            statements=engine.isolation.statements,
        )
        return msgspec.msgpack.encode(about)

    async def _complete(self, request: Received) -> bytes:
        found = await self._engine.complete(msgspec.msgpack.decode(request.data, type=CompleteRequest))
        return msgspec.msgpack.encode(found)

    async def _cancel(self, request: Received) -> None:
        run = self._runs.get(request.data.decode(errors="replace"))
        if run is not None:
            run.cancel()

    async def _info(self, _: Received) -> bytes:
        names: Sequence[str] = ("place", "about")
        return msgspec.json.encode(
            {
                "type": "io.nats.micro.v1.info_response",
                "name": SERVICE,
                "id": self.id,
                "version": version("penstock"),
                "description": "Runs scripts and notebooks",
                "metadata": {"host": socket.gethostname()},
                "endpoints": [
                    {"name": name, "subject": f"{SUBJECT}.{name}", "queue_group": QUEUE, "metadata": {}}
                    for name in names
                ],
            }
        )

    async def _answer_run(self, request: Received) -> None:
        try:
            run = msgspec.msgpack.decode(request.data, type=RunRequest)
        except msgspec.MsgspecError as error:
            _log.warning("request is not understood", reason=str(error))
            await self._bus.notify(request.reply, headers=error_headers(Invalid.one("", "is no request for a run")))
            return
        answer = _RunAnswer(self._bus, request.reply)
        task = asyncio.current_task()
        assert task is not None
        self._runs[run.id] = task
        try:
            async with answer:
                answer.send(Started(self.id))
                try:
                    await self._engine.run(run, answer.send)
                except asyncio.CancelledError:
                    answer.send(Finished(0.0, "the run was cancelled"))
                    raise
        except PenstockError as error:
            await self._bus.notify(request.reply, headers=error_headers(error))
        except asyncio.CancelledError:
            _log.info("run is cancelled", run=run.id)
        except Exception as error:  # noqa: BLE001 - one run must not end the others; its server is told
            _log.error("run failed in the engine", run=run.id, exc_info=error)
            await self._bus.notify(request.reply, headers=error_headers(PenstockError("the engine failed")))
        finally:
            self._runs.pop(run.id, None)


class _RunAnswer:
    """The frames of one run on their way, with signs of life between them."""

    def __init__(self, bus: Bus, subject: str) -> None:
        self._bus = bus
        self._subject = subject
        self._writer = FrameWriter()
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._sending: asyncio.Task[None]

    async def __aenter__(self) -> None:
        self._sending = asyncio.create_task(self._send_all(), name="answer of a run")

    async def __aexit__(self, *_: object) -> None:
        self._frames.put_nowait(None)
        await self._sending

    def send(self, frame: Frame) -> None:
        self._frames.put_nowait(frame)

    async def _send_all(self) -> None:
        while True:
            try:
                frame = await asyncio.wait_for(self._frames.get(), _ALIVE_SECONDS)
            except TimeoutError:
                frame = Alive()
            if frame is None:
                return
            for piece in self._writer.pieces(frame):
                await self._bus.notify(self._subject, piece)
