"""One version of a flow in its Java process: its start, its log, its counts and its end."""

import asyncio
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog

from penstock.flow.camel.console import Console, Served
from penstock.flow.camel.crash import Crash
from penstock.flow.camel.log_line import LogLine
from penstock.flow.camel.process import JavaProcess
from penstock.flow.camel.workspace import Workspace
from penstock.flow.definition import FlowDefinition
from penstock.flow.listener import FlowListener, Level, LogEntry
from penstock.flow.variables import Variables
from penstock.kernel.clock import Clock
from penstock.kernel.errors import PenstockError
from penstock.protocol.status import IntegrationStatistics

_LOOK_SECONDS = 1.0
_TELL_SECONDS = 30.0
_log = structlog.get_logger(__name__)


class CamelFailed(PenstockError):
    """Camel did not start the flow, or its process has ended; the detail is what Camel said last."""

    code = "camel-failed"
    title = "Camel cannot run the flow"


class HttpSide(NamedTuple):
    """port: of the loopback address. prefixes: paths that are meant with all that begins with them."""

    port: int
    prefixes: frozenset[str]


class FlowProcess:
    """`watch` is its life; `started` waits for the routes to run.

    error: the last that Camel told, masked. http: what it serves to this machine.
    """

    def __init__(
        self,
        definition: FlowDefinition,
        process: JavaProcess,
        console: Console,
        http: HttpSide,
        workspace: Workspace,
        listener: FlowListener,
        variables: Variables,
        clock: Clock,
        reloaded: int,
    ) -> None:
        self.definition = definition
        self.since = clock.now()
        self.statistics = IntegrationStatistics(reloaded=reloaded)
        self.error: str | None = None
        self.stopping = False
        self.ended = asyncio.Event()
        self.http = http
        self.console = console
        self._process = process
        self._workspace = workspace
        self._listener = listener
        self._variables = variables
        self._clock = clock
        self._reloaded = reloaded
        self._begun = asyncio.Event()
        self._last = ""
        self._crash: Crash | None = None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_begun(self) -> bool:
        """Whether the routes have run."""
        return self._begun.is_set()

    async def watch(self) -> None:
        """Returns when the process has ended. When it was not to end, the listener is told."""
        look = asyncio.create_task(self._look())
        try:
            code = await self._process.lines(self._take)
            self._tell_crash()
            self.error = self.error or self._last_words(code)
        finally:
            look.cancel()
            await self._process.kill()
            self.ended.set()
            await asyncio.to_thread(self._workspace.remove)
        if not self.stopping and self.has_begun:
            _log.warning("a Camel process ended", flow=self.definition.name, code=code)
            self._listener.flow_failed(self.definition.name, self.definition.version, self._last_words(code))

    async def started(self, within: timedelta) -> None:
        """Returns when all routes run. Raises CamelFailed."""
        waiting = [asyncio.create_task(event.wait()) for event in (self._begun, self.ended)]
        try:
            await asyncio.wait(waiting, timeout=within.total_seconds(), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
        if self.has_begun and not self.ended.is_set():
            return
        late = f"Camel did not start the flow within {within.total_seconds():.0f} s"
        raise CamelFailed(self.error if self.ended.is_set() and self.error else late)

    async def stop(self, grace: timedelta) -> None:
        """Asks Camel to stop, ends it after the grace time, and returns when nothing is left of it."""
        self.stopping = True
        if grace:
            self._process.ask_to_end()
            try:
                async with asyncio.timeout(grace.total_seconds()):
                    await self.ended.wait()
            except TimeoutError:
                _log.warning("a Camel process did not stop in time", flow=self.definition.name)
        if not self.ended.is_set():
            await self._process.kill()
            await self.ended.wait()

    async def refresh(self, now: datetime) -> None:
        """Reads the counts anew."""
        found = await self.console.statistics(now, self._reloaded)
        if found is not None:
            self.statistics = found

    async def served(self) -> list[Served]:
        """The paths of HTTP that its routes serve. Raises CamelFailed when it does not tell, or has ended."""
        try:
            async with asyncio.timeout(_TELL_SECONDS):
                while (found := await self.console.served()) is None and not self.ended.is_set():
                    await asyncio.sleep(_LOOK_SECONDS / 10)
        except TimeoutError:
            found = None
        if found is None:
            raise CamelFailed(self.error or "Camel does not tell which paths of HTTP the flow serves")
        return [Served(each.path, each.methods, each.path in self.http.prefixes) for each in found]

    async def _look(self) -> None:
        await self._begun.wait()
        while True:
            await self.refresh(self._clock.now())
            await asyncio.sleep(_LOOK_SECONDS)

    def _take(self, raw: bytes) -> None:
        line = LogLine.parse(raw)
        if line.at is None and self._is_of_crash(line.message):
            return
        if line.message or line.error:
            self._tell(line)

    def _is_of_crash(self, text: str) -> bool:
        if self._crash is not None and self._crash.takes(text):
            return True
        begun = Crash.begun_by(text)
        self._crash = begun or self._crash
        return begun is not None

    def _tell_crash(self) -> None:
        crash = self._crash
        if crash is not None:
            self._tell(
                LogLine(crash.reason, level="ERROR", error_type=crash.exception, error=crash.reason, stack=crash.trace)
            )

    def _tell(self, line: LogLine) -> None:
        if line.says_started:
            self._begun.set()
        masked = self._variables.masked
        message = masked(line.message)
        self._last = message
        if line.severity is Level.ERROR:
            self.error = masked(line.error or line.message)
        self._listener.log(
            LogEntry(
                flow=self.definition.name,
                version=self.definition.version,
                at=line.at or self._clock.now(),
                level=line.severity,
                message=message,
                logger=line.logger,
                exchange_id=line.exchange,
                exception_type=line.error_type,
                exception_message=masked(line.error) if line.error is not None else None,
                stack_trace=masked(line.stack) if line.stack is not None else None,
            )
        )

    def _last_words(self, code: int) -> str:
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        said = f": {self._last}" if self._last and code > 0 else ""
        return f"the Java process {how}{said}"
