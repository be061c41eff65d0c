"""What the interactive engine does for callers."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from datetime import timedelta
from time import perf_counter
from typing import Any

import msgspec
import structlog

from penstock.areas.interactive.model import (
    ExecuteDibRequest,
    ExecuteDibRequestParameter,
    ExecuteEnd,
    ExecuteRequest,
    ExecuteResult,
    GetSuggestionsRequest,
    Suggestion,
)
from penstock.areas.interactive.shaping import position_of, result_of, result_of_file, suggestion_of
from penstock.engine.client import EngineClient, new_run_id
from penstock.engine.documents.analysis import Analysis, analyze_apart
from penstock.engine.documents.parameters import Given, check_values
from penstock.engine.message import CompleteRequest, Finished, Frame, Made, Produced, RunRequest
from penstock.engine.result import Rendering, Results
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.duration import Duration
from penstock.kernel.errors import Invalid, PenstockError
from penstock.kernel.wire import encode
from penstock.resource.area import Stopping
from penstock.resource.ports.runs import RunFile
from penstock.resource.run_files import RunFiles

_log = structlog.get_logger(__name__)
_LONGEST_SESSION = 200
_NOTEBOOK = "notebook"
_SESSION = "session"


class InteractiveService:
    """Runs code and documents in kernels, apart from the server."""

    def __init__(self, engine: EngineClient, files: RunFiles, clock: Clock, stopping: Stopping) -> None:
        self._engine = engine
        self._files = files
        self._clock = clock
        self._stopping = stopping

    async def run(self, request: ExecuteRequest, actor: Actor) -> list[ExecuteResult]:
        """The outputs, texts of one stream put together. Raises Invalid, Unavailable, TooManyRequests."""
        results = Results()
        async with aclosing(self._engine.run(_run_request(request))) as frames:
            async for frame in frames:
                results.take(frame)
        now, preferred = self._clock.now(), request.preferred_format
        shown = [result_of(output, preferred, results.duration, now) for output in results.outputs]
        kept = [await self._files.keep(file, actor) for file in results.files]
        return shown + [result_of_file(file, results.duration, now) for file in kept]

    async def stream(self, request: ExecuteRequest, actor: Actor) -> AsyncIterator[bytes]:
        """The outputs as server-sent events while the code runs. Leaving early interrupts it."""
        wanted = _run_request(request)
        return self._events(wanted, request.preferred_format, actor)

    async def execute(self, request: ExecuteDibRequest, actor: Actor) -> tuple[Rendering, Sequence[RunFile]]:
        """What the document answers, and the files that it made.

        Raises Invalid, RunFailed, Unavailable, TooManyRequests.
        """
        source = _needed("Dib", request.dib)
        analysis = await analyze_apart(source, field="Dib")
        given = [_given(parameter, index) for index, parameter in enumerate(request.parameters or [])]
        values = check_values(analysis.parameters, given)
        results = Results()
        async with aclosing(self._engine.run(_document_request(request, source, values))) as frames:
            async for frame in frames:
                results.take(frame)
        answer = results.answer(request.preferred_format)
        return answer, [await self._files.keep(file, actor) for file in results.files]

    async def suggestions(self, request: GetSuggestionsRequest) -> list[Suggestion]:
        """Raises Invalid for a place that the code does not have, Unavailable, TooManyRequests."""
        code = request.code or ""
        position = position_of(code, request.line_number, request.column)
        if position is None:
            raise Invalid.one("LineNumber", "LineNumber and Column, from 1, must be a place in Code")
        asked = CompleteRequest(notebook=f"{_NOTEBOOK}:{request.notebook_id}", code=code, position=position)
        return [suggestion_of(found) for found in await self._engine.complete(asked)]

    async def analyze(self, document: str) -> Analysis:
        """Raises Invalid."""
        return await analyze_apart(document)

    async def _events(self, request: RunRequest, preferred: str | None, actor: Actor) -> AsyncIterator[bytes]:
        began = perf_counter()
        stopped = asyncio.create_task(self._stopping.wait(), name="stop of a streamed run")
        try:
            async with aclosing(self._engine.run(request)) as frames:
                async for frame in frames:
                    yield await self._event(frame, preferred, actor, timedelta(seconds=perf_counter() - began))
                    if stopped.done():
                        return
        except PenstockError as error:
            yield _event("end", ExecuteEnd(error=error.detail, duration=Duration(seconds=perf_counter() - began)))
        finally:
            stopped.cancel()

    async def _event(self, frame: Frame, preferred: str | None, actor: Actor, since: timedelta) -> bytes:
        match frame:
            case Produced(output=output):
                return _event("output", result_of(output, preferred, since, self._clock.now()))
            case Made():
                kept = await self._files.keep(frame, actor)
                return _event("output", result_of_file(kept, since, self._clock.now()))
            case Finished(seconds=seconds, error=error):
                return _event("end", ExecuteEnd(error=error, duration=Duration(seconds=seconds)))
        return b":\n\n"  # a sign of life


def _run_request(request: ExecuteRequest) -> RunRequest:
    code = _needed("Code", request.code)
    if request.command_prefix:
        code = f"{request.command_prefix}\n{code}"
    return RunRequest(
        id=new_run_id(),
        document=code,
        file_name=".dib",
        kernel=request.kernel_type or None,
        notebook=f"{_NOTEBOOK}:{request.notebook_id}",
        fresh=request.fresh_kernel,
    )


def _document_request(request: ExecuteDibRequest, source: str, values: dict[str, Any]) -> RunRequest:
    session = request.session_id or ""
    if len(session) > _LONGEST_SESSION:
        raise Invalid.one("SessionId", f"must be at most {_LONGEST_SESSION} characters")
    kept = bool(session) and not request.one_time_kernel
    return RunRequest(
        id=new_run_id(),
        document=source,
        kernel=request.kernel_type or None,
        parameters=values,
        notebook=f"{_SESSION}:{session}" if kept else None,
    )


def _given(parameter: ExecuteDibRequestParameter, index: int) -> Given:
    field = f"Parameters[{index}]"
    if not parameter.name:
        raise Invalid.one(f"{field}.Name", "is required")
    value = parameter.value_json if parameter.value_json is not None else "null"
    return Given(parameter.name, value, parameter.type_name, f"{field}.ValueJson")


def _needed(field: str, text: str | None) -> str:
    if not text:
        raise Invalid.one(field, "is required")
    return text


def _event(name: str, data: msgspec.Struct) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), encode(data))
