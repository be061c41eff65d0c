"""The agent's web jobs, one task each."""

from functools import partial
from uuid import UUID

import msgspec

from penstock.agent.assigned.book import Book, Drawer, Kept
from penstock.agent.assigned.task_keeper import TaskKeeper
from penstock.agent.webjobs.job_log import JobLog
from penstock.agent.webjobs.kept_running import KeptRunning
from penstock.flow.commands.command import CommandRunner
from penstock.flow.commands.job import Job
from penstock.flow.variables import Variables
from penstock.packages.environment import Environments
from penstock.protocol.web_job import WebJobItem, WebJobPhase, WebJobState

_ENDED = "the agent ended"


class WebJobKeeper(TaskKeeper[WebJobItem, Book[WebJobState]]):
    """A change of a job ends its process before the next one starts, so there is one at a time."""

    body = WebJobItem

    def __init__(self, drawer: Drawer, runner: CommandRunner, variables: Variables, environments: Environments) -> None:
        super().__init__(drawer)
        self._runner = runner
        self._variables = variables
        self._environments = environments

    def book(self, key: UUID, kept: Kept | None) -> Book[WebJobState]:
        new = WebJobState(phase=WebJobPhase.STOPPED, since=self._drawer.clock.now())
        return Book(self._drawer, key, kept, new)

    async def ended_before(self, book: Book[WebJobState]) -> None:
        if book.status.phase is not WebJobPhase.STOPPED:
            await book.note(self._stopped(book, _ENDED))

    async def forget(self, book: Book[WebJobState]) -> None:
        await book.forget(self._stopped(book, None))

    async def run(self, body: WebJobItem, book: Book[WebJobState]) -> None:
        if not body.started:
            return
        clock, outbox = self._drawer.clock, self._drawer.outbox
        job = Job.of(body.command, body.arguments, body.environment, body.package)
        build = partial(job.command, self._variables, self._environments)
        log = JobLog(body.name, outbox, clock, self._variables.masked)
        await KeptRunning(book, build, self._runner, self._variables, log, clock).serve()

    def _stopped(self, book: Book[WebJobState], message: str | None) -> WebJobState:
        now = self._drawer.clock.now()
        return msgspec.structs.replace(book.status, phase=WebJobPhase.STOPPED, since=now, message=message)
