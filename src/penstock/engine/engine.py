"""The engine of one machine: runs documents and completes code, within limits."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import gettempdir
from time import perf_counter

import msgspec
import structlog

from penstock.engine.channels import KernelLost
from penstock.engine.completion import complete
from penstock.engine.document_run import DocumentRun
from penstock.engine.documents.document import Document, Format
from penstock.engine.documents.reading import format_of, read_document
from penstock.engine.files import MadeFile, Seen, changed_files, is_empty, look
from penstock.engine.folders import runtime_folder
from penstock.engine.isolation import Isolation
from penstock.engine.kernel import Kernel
from penstock.engine.kernel_set import KernelSet
from penstock.engine.languages import PYTHON, Languages
from penstock.engine.limits import Allowance, OutputBudget, within
from penstock.engine.message import CompleteRequest, Completion, Finished, Frame, Made, Produced, RunRequest
from penstock.engine.notebooks import Notebooks
from penstock.engine.output import ERROR, TEXT, Output, error
from penstock.engine.pool import KernelPool
from penstock.engine.starter import KernelStarter
from penstock.engine.turns import Turns
from penstock.engine.usage import ProcessTable
from penstock.kernel.errors import Invalid, PenstockError, TooManyRequests, Unavailable
from penstock.kernel.run_folder import RunFolder

_log = structlog.get_logger(__name__)

_GRACE = 0.03
_SMALL = 100_000  # characters: read at once
_LAST_WORDS = 4000  # characters
Send = Callable[[Frame], None]


class Engine:
    """Made by `open_engine`. running, waiting: runs; served: how many there were."""

    def __init__(self, isolation: Isolation, starter: KernelStarter) -> None:
        self._settings = isolation.settings
        self.isolation = isolation
        self._starter = starter
        self.languages = Languages(isolation.python)
        self.pool = KernelPool(starter, self._settings.pool)
        self.notebooks = Notebooks(self._kernel_set, self._settings.notebooks, self._settings.idle_minutes * 60)
        self._turns = Turns(self._settings.runs)
        self._table = ProcessTable()
        self.running = 0
        self.served = 0

    @property
    def waiting(self) -> int:
        return self._turns.waiting

    @property
    def busy(self) -> bool:
        """Whether anything runs, waits or is kept for somebody."""
        return bool(self.running or self.waiting or len(self.notebooks))

    async def run(self, request: RunRequest, send: Send) -> None:
        """Runs the document; `send` gets its output, its files and, last, how it ended.

        When cancelled the code is interrupted. Raises TooManyRequests, and nothing else: what goes wrong is the end.
        """
        if self._turns.are_taken and self.waiting >= self._settings.waiting:
            raise TooManyRequests(f"{self.waiting} runs are waiting", 5)
        async with self._turns.turn(request.party):
            self.running += 1
            self.served += 1
            try:
                await self._run(request, send)
            finally:
                self.running -= 1

    async def complete(self, request: CompleteRequest) -> list[Completion]:
        """In the notebook's own kernel. Raises KernelLost, Unavailable, TooManyRequests."""
        async with self.notebooks.use(request.notebook) as kernels:
            kernel, _ = await kernels.kernel(PYTHON)
            return await complete(kernel, request.code, request.position)

    async def keep_ready(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.pool.keep_filled(), name="kernels started ahead")
            group.create_task(self.notebooks.cull(), name="idle notebooks")
            group.create_task(self.languages.keep_current(), name="installed kernels")
            group.create_task(self._warm_up(), name="cache of completion")

    async def _warm_up(self) -> None:
        try:
            if await self._starter.warm_up(await self.languages.find(PYTHON)):
                await self.pool.renew()
        except (KernelLost, Unavailable) as problem:
            _log.warning("completion begins cold", reason=problem.detail)

    async def _run(self, request: RunRequest, send: Send) -> None:
        began = perf_counter()
        shown = _Shown(send, OutputBudget(self._settings.output))
        async with self._kernels(request) as kernels:
            try:
                await self._run_document(request, kernels, shown)
            except PenstockError as problem:
                shown.fail(problem)
            send(Finished(perf_counter() - began, shown.error))

    async def _run_document(self, request: RunRequest, kernels: KernelSet, shown: "_Shown") -> None:
        document = await self._read(request)
        seen = {kernel: await asyncio.to_thread(look, kernel.folders.work) for kernel in kernels.running}
        try:
            await self._within_limits(request, document, kernels, shown)
        finally:
            for kernel in kernels.running:
                await self._send_files(kernel, seen.get(kernel, {}), shown)

    async def _read(self, request: RunRequest) -> Document:
        known = await self.languages.names()
        if len(request.document) < _SMALL and format_of(request.document, request.file_name) is Format.DIB:
            return read_document(request.document, request.file_name, request.kernel, known)
        return await asyncio.to_thread(read_document, request.document, request.file_name, request.kernel, known)

    async def _within_limits(
        self, request: RunRequest, document: Document, kernels: KernelSet, shown: "_Shown"
    ) -> None:
        allowance = Allowance.of(self._settings, request.seconds)
        work = DocumentRun(document, request.parameters, kernels, shown.take).run()
        succeeded = await within(allowance, work, kernels, shown.budget, self._table)
        if not succeeded and shown.error is None:  # some kernels print what is wrong, and no more
            shown.take(error("Error", "the code failed", ""))

    async def _send_files(self, kernel: Kernel, before: Seen, shown: "_Shown") -> None:
        if is_empty(kernel.folders.work):
            return
        try:
            files = await asyncio.to_thread(changed_files, kernel.folders.work, before, self._settings.files)
        except OSError as problem:
            _log.info("files of a run cannot be read", reason=str(problem))
            return
        for file in files:
            shown.send(_made(file))

    @asynccontextmanager
    async def _kernels(self, request: RunRequest) -> AsyncIterator[KernelSet]:
        if request.notebook is not None:
            async with self.notebooks.use(request.notebook, fresh=request.fresh) as kept:
                yield kept
            return
        kernels = self._kernel_set()
        try:
            yield kernels
            if not self.waiting:
                await asyncio.sleep(_GRACE)  # whoever reads the end needs the processor now
        finally:
            await kernels.close()

    def _kernel_set(self) -> KernelSet:
        return KernelSet(self.languages, self.pool.take)


class _Shown:
    """What a run shows, as far as it may."""

    def __init__(self, send: Send, budget: OutputBudget) -> None:
        self.send = send
        self.budget = budget
        self.error: str | None = None
        self._last_words = ""

    def take(self, output: Output) -> None:
        if not self.budget.take(output):
            return
        if output.kind == "stream":
            self._last_words = (self._last_words + str(output.data[TEXT]))[-_LAST_WORDS:]
        elif output.kind == "error":
            self.error = _one_line(output)
            output = self._explained(output, self.error)
        self.send(Produced(output))

    def fail(self, problem: PenstockError) -> None:
        name = "Invalid" if isinstance(problem, Invalid) else type(problem).__name__
        self.send(Produced(error(name, problem.detail, problem.detail)))
        self.error = problem.detail

    def _explained(self, output: Output, line: str) -> Output:
        """An error without a traceback, as of a shell, has what was printed before it instead."""
        if output.data.get(TEXT):
            return output
        trace = f"{self._last_words.rstrip()}\n{line}".lstrip()
        return msgspec.structs.replace(output, data={**output.data, TEXT: trace})


@asynccontextmanager
async def open_engine(isolation: Isolation) -> AsyncIterator[Engine]:
    """An engine that keeps kernels ready, and ends all of them in the end."""
    async with AsyncExitStack() as stack:
        parent = stack.enter_context(runtime_folder())
        cache = Path(isolation.settings.folder) if isolation.settings.folder else stack.enter_context(_passing_cache())
        await asyncio.to_thread(cache.mkdir, parents=True, exist_ok=True)
        starter = KernelStarter(isolation, parent, cache / "completion")
        stack.callback(starter.close)
        if not isolation.has_view:
            await stack.enter_async_context(starter.guard())
        engine = Engine(isolation, starter)
        keeping = asyncio.create_task(engine.keep_ready(), name="engine")
        try:
            yield engine
        finally:
            keeping.cancel()
            await asyncio.wait({keeping})


@contextmanager
def _passing_cache() -> Iterator[Path]:
    with RunFolder(Path(gettempdir()), "penstock-engine-") as folder:
        yield folder.path


def _made(file: MadeFile) -> Made:
    return Made(file.name, file.media_type, file.size, file.content)


def _one_line(output: Output) -> str:
    told = output.data.get(ERROR) or {}
    message = str(told.get("message") or "").strip().partition("\n")[0]
    return f"{told.get('name')}: {message}" if message else str(told.get("name") or output.data.get(TEXT))
