"""One web job kept running: started, started again when it ends, with longer and longer pauses."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from penstock.agent.assigned.book import Book
from penstock.agent.webjobs.job_log import JobLog
from penstock.flow.commands.command import Command, CommandRunner, Outcome
from penstock.flow.variables import Variables
from penstock.kernel.clock import Clock
from penstock.kernel.errors import PenstockError
from penstock.kernel.ids import new_id
from penstock.protocol.web_job import WebJobPhase, WebJobState

_STEADY_SECONDS = 60.0
"""Whatever ran for so long has started well: pauses begin anew."""
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_QUICK_ENDS = 5
"""In a row, from which on it is called an error."""


class KeptRunning:
    """build: makes the command at each start, with the variables' values of that moment. Raises PenstockError."""

    def __init__(
        self,
        book: Book[WebJobState],
        build: Callable[[], Awaitable[Command]],
        runner: CommandRunner,
        variables: Variables,
        log: JobLog,
        clock: Clock,
    ) -> None:
        self._book = book
        self._build = build
        self._runner = runner
        self._variables = variables
        self._log = log
        self._clock = clock

    async def serve(self) -> None:
        """Keeps it running until cancelled; then it has ended."""
        now = asyncio.get_running_loop().time
        quick_ends = 0
        try:
            while True:
                began = now()
                exit_code, message = await self._run_once()
                quick_ends = 0 if now() - began >= _STEADY_SECONDS else quick_ends + 1
                pause = min(_FIRST_PAUSE * 2 ** max(quick_ends - 1, 0), _LONGEST_PAUSE)
                await self._rest(exit_code, message, pause, failing=quick_ends >= _QUICK_ENDS)
                await asyncio.sleep(pause)
        finally:
            await self._note(WebJobPhase.STOPPED)

    async def _run_once(self) -> tuple[int | None, str]:
        """Starts it and waits for its end. Answers the exit value, None when it could not be started, and why."""
        await self._note(WebJobPhase.STARTING)
        try:
            command = await self._build()
            await self._note(WebJobPhase.RUNNING, starts=self._book.status.starts + 1)
            self._log.info("started")
            outcome = await self._runner.run(command, str(new_id()), self._log.lines())
        except PenstockError as error:
            return None, self._variables.masked(error.detail)
        return outcome.exit_code, self._told(outcome)

    async def _rest(self, exit_code: int | None, message: str, pause: float, *, failing: bool) -> None:
        again = f"{message}; starts again in {pause:g} s"
        self._log.warning(again)
        phase = WebJobPhase.ERROR if failing else WebJobPhase.WAITING
        await self._note(phase, exit_code=exit_code, message=again)

    def _told(self, outcome: Outcome) -> str:
        if outcome.exit_code is not None and outcome.exit_code < 0:
            return f"ended by signal {-outcome.exit_code}"
        last = self._variables.masked(outcome.stderr.text()).strip().rpartition("\n")[2][:500]
        ended = f"ended with exit value {outcome.exit_code}"
        return f"{ended}: {last}" if last and outcome.exit_code else ended

    async def _note(
        self,
        phase: WebJobPhase,
        *,
        starts: int | None = None,
        exit_code: int | None = None,
        message: str | None = None,
    ) -> None:
        """Keeps and reports the phase; how it last ended stays until it ends again."""
        before = self._book.status
        resting = phase in (WebJobPhase.WAITING, WebJobPhase.ERROR)
        await self._book.note(
            msgspec.structs.replace(
                before,
                phase=phase,
                since=self._clock.now(),
                starts=before.starts if starts is None else starts,
                exit_code=exit_code if resting else before.exit_code,
                message=message,
            )
        )
