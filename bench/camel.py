"""The same flows on the native engine and on Camel: exchanges a second, the time to start, memory."""

import asyncio
import os
import tempfile
import tracemalloc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, timedelta
from pathlib import Path
from statistics import median
from time import perf_counter

import httpx

from penstock.flow.any_engine import Engine
from penstock.flow.camel.class_archive import make_archive
from penstock.flow.camel.engine import CamelEngine
from penstock.flow.camel.installer import install
from penstock.flow.camel.java import find_java
from penstock.flow.camel.settings import CamelSettings
from penstock.flow.commands.command import base_environment
from penstock.flow.definition import FlowDefinition
from penstock.flow.engine import FlowEngine
from penstock.flow.http.http_server import HttpServer
from penstock.flow.listener import CommandRun, LogEntry, Tick
from penstock.flow.parsing.parser import parse_flow
from penstock.flow.surroundings import FlowSurroundings, Reach
from penstock.flow.variables import Variable
from penstock.kernel.clock import SystemClock

TITLE = "The same flows on the native engine and on Camel"

_PARTS = 5_000
_REQUESTS = 400
_AT_ONCE = 8
_TURNS = 5
_WARM_UP = 10
_NATIVE_COUNTS = (1, 10, 200)
# How many processes there may be at once is for whoever runs this to say.
_CAMEL_COUNTS = tuple(int(each) for each in os.environ.get("BENCH_CAMEL_FLOWS", "1,10").split(","))

Rows = list[tuple[str, str]]

_STEPS = {
    "set a body and a header": '{setHeader: {name: h, simple: "${body}"}}, {setBody: {simple: "<${header.h}>"}}',
    "choose a branch": (
        "{choice: {when: [{simple: \"${body} == 'a'\", steps: [{setBody: {constant: A}}]}], "
        "otherwise: {steps: [{setBody: {constant: other}}]}}}"
    ),
    "call another route": '{to: "direct:inner"}',
    "filter and loop": (
        "{filter: {simple: \"${body} != 'x'\", "
        'steps: [{loop: {constant: "3", steps: [{setProperty: {name: p, simple: "${body}"}}]}}]}}'
    ),
}
_INNER = '- route: {id: inner, from: {uri: "direct:inner", steps: [{setBody: {simple: "in ${body}"}}]}}\n'


class _Quiet:
    async def ticks(self, ticks: Sequence[Tick]) -> None: ...
    async def run_started(self, run: CommandRun) -> None: ...
    async def run_finished(self, run: CommandRun) -> None: ...
    def flow_failed(self, flow: str, version: str, reason: str) -> None: ...
    def log(self, entry: LogEntry) -> None: ...


async def run() -> Rows:
    rows = []
    for label, steps in _STEPS.items():
        split = f'{{split: {{tokenize: ",", steps: [{steps}]}}}}, {{setBody: {{constant: done}}}}'
        native, camel = await _both(_web(split), _parts_a_second)
        rows.append((f"{label}, parts of a split", _compared(native, camel)))
    native, camel = await _both(_web('{setBody: {simple: "hello ${body}"}}'), _requests_a_second)
    rows.append(("answer a request over HTTP", _compared(native, camel)))
    for count in _NATIVE_COUNTS:
        rows.append((f"start {count} flows natively, each", await _natively_started(count)))
    for count in _CAMEL_COUNTS:
        rows.append((f"start {count} flows on Camel, each", await _started_on_camel(count)))
    return rows


def _web(steps: str) -> str:
    return f'- route: {{id: web, from: {{uri: "platform-http:/web", steps: [{steps}]}}}}\n{_INNER}'


async def _both(source, measure):  # type: ignore[no-untyped-def]
    """What is measured natively and on Camel, one after the other."""
    async with _native() as (engine, server):
        await engine.start(parse_flow("web", "1", source))
        native = await measure(f"http://127.0.0.1:{server.port}/web")
    async with _camel() as (engine, server):
        await engine.start(FlowDefinition("web", "1", source, ()))
        camel = await measure(f"http://127.0.0.1:{server.port}/web")
    return native, camel


async def _parts_a_second(address: str) -> float:
    body = ",".join("abcde"[number % 5] for number in range(_PARTS))
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        took = []
        for _ in range(_WARM_UP + _TURNS):
            began = perf_counter()
            answer = await client.post(address, content=body)
            assert answer.text == "done", answer.text
            took.append(perf_counter() - began)
    return _PARTS / median(took[_WARM_UP:])


async def _requests_a_second(address: str) -> float:
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:

        async def some() -> None:
            for _ in range(_REQUESTS // _AT_ONCE):
                await client.post(address, content="x")

        took = []
        for _ in range(_WARM_UP + _TURNS):
            began = perf_counter()
            async with asyncio.TaskGroup() as tasks:
                for _ in range(_AT_ONCE):
                    tasks.create_task(some())
            took.append(perf_counter() - began)
    return _REQUESTS / median(took[_WARM_UP:])


async def _natively_started(count: int) -> str:
    async with _native() as (engine, _):
        began = perf_counter()
        await _start_natively(engine, count, "timed")
        took = (perf_counter() - began) / count
        tracemalloc.start()  # apart from the time, which it costs
        await _start_natively(engine, count, "weighed")
        memory = tracemalloc.get_traced_memory()[0] / count
        tracemalloc.stop()
    return f"{took * 1e3:.1f} ms, {memory / 1e6:.3f} MB"


async def _start_natively(engine: Engine, count: int, name: str) -> None:
    for number in range(count):
        await engine.start(parse_flow(f"{name}{number}", "1", _idle(number)))


async def _started_on_camel(count: int) -> str:
    async with _camel() as (engine, _):
        began = perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for number in range(count):
                tasks.create_task(engine.start(FlowDefinition(f"f{number}", "1", _idle(number), ())))
        took = (perf_counter() - began) / count
        memory = [_memory(engine.status(name).pid) for name in engine.names()]
        return f"{took * 1e3:.0f} ms, {sum(memory) / count / 1e6:.0f} MB"


def _idle(number: int) -> str:
    return (
        f'- from: {{uri: "timer:idle{number}?period=60000", steps: [{{setBody: {{simple: "${{body}}"}}}}, {{log: a}}]}}'
    )


@asynccontextmanager
async def _native() -> AsyncIterator[tuple[Engine, HttpServer]]:
    async with (
        FlowSurroundings(Reach(http_port=0)) as surroundings,
        FlowEngine(SystemClock(), UTC, _Quiet(), _resolve, surroundings=surroundings) as engine,
    ):
        yield engine, surroundings.server


@asynccontextmanager
async def _camel() -> AsyncIterator[tuple[CamelEngine, HttpServer]]:
    """Measured as it is used, with the agent's own server before the process."""
    engines = Path(tempfile.gettempdir()) / f"penstock-engines-{os.getuid()}"
    installation = await asyncio.to_thread(
        install, engines, os.environ.get("PENSTOCK_AGENT_MAVEN_MIRROR", ""), lambda done, files, size: None
    )
    await asyncio.to_thread(make_archive, installation, find_java(os.environ))
    with tempfile.TemporaryDirectory() as folder:
        settings = CamelSettings(
            folder=Path(folder),
            engines=(engines,),
            environment=base_environment(os.environ),
            own_environment=os.environ,
            grace=timedelta(seconds=2),
        )
        async with (
            FlowSurroundings(Reach(http_port=0)) as surroundings,
            CamelEngine(SystemClock(), _Quiet(), _resolve, settings, surroundings.server) as engine,
        ):
            yield engine, surroundings.server


async def _resolve(name: str) -> Variable:
    raise LookupError(name)


def _compared(native: float, camel: float) -> str:
    return f"{native:,.0f}/s native, {camel:,.0f}/s on Camel, ratio {native / camel:.2f}"


def _memory(process: int) -> int:
    """Resident bytes."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
