"""Accepts runs and carries them out. A run is on record before anything happens."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any
from uuid import UUID

import msgspec
import structlog

from penstock.areas.runs.stored import KEEP, RUNS
from penstock.engine.client import EngineClient, new_run_id
from penstock.engine.message import RunRequest
from penstock.engine.result import Results, RunFailed
from penstock.kernel.actor import SYSTEM, Actor
from penstock.kernel.clock import Clock
from penstock.kernel.duration import Duration
from penstock.kernel.errors import NameTaken, PenstockError, Stale, TooManyRequests, Unavailable
from penstock.kernel.ids import new_id
from penstock.kernel.wire import encode
from penstock.resource.page import MOST
from penstock.resource.ports.runs import RecordedRun, RunAnswer, RunFile, RunParameter, RunTrigger, Script
from penstock.resource.run_files import RunFiles
from penstock.store.store import Store, Where, decode
from penstock.store.write import Insert, Replace

_log = structlog.get_logger(__name__)
_MOST_OPEN = 2000
_READY_SECONDS = 10.0
_PAUSE = 1.0
_STOP_SECONDS = 2.0
_LONGEST_ERROR = 20_000  # characters
SUCCEEDED, REFUSED, FAILED, CUT_OFF = 200, 400, 422, 503


@dataclass(eq=False)
class Accepted:
    """See resource.ports.runs.AcceptedRun. ended: its results, or why there are none."""

    run: RecordedRun
    script: Script
    results: Results = field(default_factory=Results)
    ended: asyncio.Future[PenstockError | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def id(self) -> UUID:
        return self.run.key

    async def answer(self, preferred_format: str | None = None) -> RunAnswer:
        cut_off = await asyncio.shield(self.ended)
        if cut_off is not None:
            return RunAnswer(CUT_OFF, error=cut_off.detail)
        try:
            rendering = self.results.answer(preferred_format)
        except RunFailed as failed:
            return RunAnswer(FAILED, error=failed.detail)
        return RunAnswer(SUCCEEDED, rendering.media_type, rendering.body)


@dataclass(frozen=True)
class KnownRun:
    """See resource.ports.runs.AcceptedRun; a run that somebody asked for before. Its result is not kept."""

    id: UUID
    recorded: Callable[[UUID], Awaitable[RecordedRun | None]]

    async def answer(self, preferred_format: str | None = None) -> RunAnswer:
        while run := await self.recorded(self.id):
            if run.finished:
                return RunAnswer(run.status_code or CUT_OFF, error=run.error)
            await asyncio.sleep(_PAUSE)
        return RunAnswer(CUT_OFF, error="the run is not on record any more")


class RunService:
    """server: the name of this replica, under which it says on the bus that it is there (see LeftoverRuns)."""

    def __init__(self, store: Store, engine: EngineClient, files: RunFiles, clock: Clock) -> None:
        self._store = store
        self._engine = engine
        self._files = files
        self._clock = clock
        self.server = new_id().hex
        self.waiting: asyncio.Queue[Accepted] = asyncio.Queue()
        self.present = asyncio.Event()
        self._open = 0

    async def accept(
        self, script: Script, trigger: RunTrigger, actor: Actor, id: UUID | None = None
    ) -> Accepted | KnownRun:
        """See resource.ports.runs.Runs."""
        if self._open >= _MOST_OPEN:
            raise TooManyRequests(f"{_MOST_OPEN} runs are in progress or wait on this server", 5)
        await self._be_present()
        run = self._new(script, trigger, actor, id)
        try:
            await self._insert(run)
        except NameTaken:
            return await self._known(run, script)
        return self._taken(run, script)

    async def refuse(
        self, script: Script, trigger: RunTrigger, actor: Actor, reason: str, id: UUID | None = None
    ) -> None:
        """See resource.ports.runs.Runs."""
        run = self._new(script, trigger, actor, id)
        refused = msgspec.structs.replace(
            run, finished=True, status_code=REFUSED, error=reason[:_LONGEST_ERROR], duration=Duration()
        )
        with suppress(NameTaken):  # on record already
            await self._insert(refused)

    async def recorded(self, id: UUID) -> RecordedRun | None:
        """See resource.ports.runs.Runs."""
        document = await self._store.get(RUNS, id)
        return decode(document.body, RecordedRun) if document is not None else None

    async def history(self, script_id: UUID) -> Sequence[RecordedRun]:
        """See resource.ports.runs.Runs."""
        return await self.all(script_id)

    async def all(self, script: UUID | None = None, trigger: UUID | None = None) -> Sequence[RecordedRun]:
        """The newest first, at most 1,000. script, trigger: only those of it."""
        where = [Where(name, "=", str(id)) for name, id in (("script", script), ("trigger", trigger)) if id is not None]
        found = await self._store.list(RUNS, where, limit=MOST)
        return [decode(document.body, RecordedRun) for document in found]

    async def carry_out(self, accepted: Accepted) -> None:
        """Runs it to its end, which is on record afterwards. When cancelled, it ends as cut off."""
        began = perf_counter()
        try:
            cut_off = await self._run(accepted)
        except asyncio.CancelledError:
            stopped = Unavailable("the server stopped while the run was in progress")
            # What cannot be recorded in time is by the next start, see LeftoverRuns.
            with suppress(TimeoutError):
                async with asyncio.timeout(_STOP_SECONDS):
                    await self._end(accepted, stopped, perf_counter() - began)
            raise
        finally:
            self._open -= 1
        await self._end(accepted, cut_off, perf_counter() - began)

    async def open_runs(self) -> Sequence[RecordedRun]:
        """Those of other replicas that have not ended."""
        others = [Where("open_on", "!=", None), Where("open_on", "!=", self.server)]
        found = await self._store.list(RUNS, others, limit=MOST)
        return [decode(document.body, RecordedRun) for document in found]

    async def give_up(self, run: RecordedRun, reason: str) -> None:
        """Records the end of a run whose replica is gone. One that has ended meanwhile is left alone."""
        ended = msgspec.structs.replace(run, finished=True, status_code=CUT_OFF, error=reason)
        try:
            await self._replace(ended, run)
        except Stale:
            return
        _log.warning("run was cut off", run=str(run.id), script=run.script_name, reason=reason)

    def _new(self, script: Script, trigger: RunTrigger, actor: Actor, id: UUID | None) -> RecordedRun:
        return RecordedRun(
            id=id,
            script_id=script.id,
            script_name=script.name,
            received=list(script.received),
            parameters=_parameters(script.values),
            trigger=trigger.type,
            trigger_id=trigger.id,
            server=self.server,
        ).created(actor, self._clock.now())

    async def _insert(self, run: RecordedRun) -> None:
        now = run.created_date
        await self._store.commit([Insert(RUNS, run.key, run.e_tag or "", run, now, now + KEEP)])

    async def _known(self, wanted: RecordedRun, script: Script) -> Accepted | KnownRun:
        """The run on record under the id of the one wanted, taken over when it was cut off."""
        before = await self.recorded(wanted.key)
        if before is None or before.status_code != CUT_OFF:
            return KnownRun(wanted.key, self.recorded)
        try:
            again = msgspec.structs.replace(wanted, attempts=before.attempts + 1)
            return self._taken(await self._replace(again, before), script)
        except Stale:  # somebody else was quicker
            return KnownRun(wanted.key, self.recorded)

    def _taken(self, run: RecordedRun, script: Script) -> Accepted:
        accepted = Accepted(run, script)
        self._open += 1
        self.waiting.put_nowait(accepted)
        return accepted

    async def _run(self, accepted: Accepted) -> PenstockError | None:
        script = accepted.script
        request = RunRequest(
            id=new_run_id(),
            document=script.content,
            file_name=script.file_name,
            parameters=script.values,
            party=str(script.id),
        )
        try:
            async with aclosing(self._engine.run(request)) as frames:
                async for frame in frames:
                    accepted.results.take(frame)
        except PenstockError as error:
            return error
        return None

    async def _end(self, accepted: Accepted, cut_off: PenstockError | None, seconds: float) -> None:
        error = cut_off.detail if cut_off is not None else accepted.results.trace
        status = CUT_OFF if cut_off is not None else SUCCEEDED if error is None else FAILED
        ended = msgspec.structs.replace(
            accepted.run,
            finished=True,
            status_code=status,
            duration=Duration(seconds=seconds),
            error=error[:_LONGEST_ERROR] if error is not None else None,
            files=await self._kept(accepted.results),
        )
        while True:
            try:
                await self._replace(ended, accepted.run)
                break
            except Stale:  # another replica took us for gone
                break
            except Unavailable as away:
                _log.warning("end of a run cannot be recorded yet", run=str(ended.id), reason=away.detail)
                await asyncio.sleep(_PAUSE)
        if not accepted.ended.done():
            accepted.ended.set_result(cut_off)

    async def _kept(self, results: Results) -> list[RunFile]:
        """The files of the run, named at least."""
        try:
            return [await self._files.keep(file) for file in results.files]
        except Unavailable as away:
            _log.warning("files of a run cannot be kept", reason=away.detail)
            return [RunFile(file_name=file.name, media_type=file.media_type, size=file.size) for file in results.files]

    async def _replace(self, run: RecordedRun, before: RecordedRun) -> RecordedRun:
        now = self._clock.now()
        stored = run.changed(before, SYSTEM, now)
        replace = Replace(RUNS, run.key, stored.e_tag or "", stored, now, before.e_tag, now + KEEP)
        await self._store.commit([replace])
        return stored

    async def _be_present(self) -> None:
        try:
            async with asyncio.timeout(_READY_SECONDS):
                await self.present.wait()
        except TimeoutError:
            raise Unavailable("the bus is away") from None


def _parameters(values: Mapping[str, Any]) -> list[RunParameter]:
    return [RunParameter(name=name, value_json=encode(value).decode()) for name, value in values.items()]
