"""The native flow engine with 10,000 schedules, beside a bare event loop that does the same."""

import asyncio
import gc
import resource
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from time import perf_counter, process_time, time

import msgspec

from penstock.flow.commands.command import Command, CommandRunner, base_environment
from penstock.flow.commands.scheduled_command import scheduled_command
from penstock.flow.context import FlowContext
from penstock.flow.definition import FlowDefinition
from penstock.flow.engine import FlowEngine
from penstock.flow.exchange import Exchange
from penstock.flow.listener import CommandRun, LogEntry, Tick
from penstock.flow.parsing.parser import parse_flow
from penstock.flow.step import Step
from penstock.flow.variables import Variable
from penstock.kernel.clock import SystemClock

TITLE = "Native flow engine: 10,000 schedules, 200 fires a second"

_SCHEDULES = 10_000
_SECONDS = 5
_REST = 2
_WARM_UP = 1.5  # what became due while 10,000 flows were started is not measured
_COMMANDS = 400
_TURNS = 5
_AT_ONCE = 16

Rows = list[tuple[str, str]]


class _Measure(Step, frozen=True, kw_only=True):
    """A step that does nothing but note how late it is."""

    element = "measure"
    lateness: list[float]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        assert exchange.due is not None
        self.lateness.append(time() - exchange.due.timestamp())


class _Listener:
    def __init__(self) -> None:
        self.lateness: list[float] = []
        self.failed = 0

    async def ticks(self, ticks: Sequence[Tick]) -> None:
        pass

    async def run_started(self, run: CommandRun) -> None:
        assert run.due is not None
        self.lateness.append((datetime.now(UTC) - run.due).total_seconds())

    async def run_finished(self, run: CommandRun) -> None:
        self.failed += run.error is not None

    def flow_failed(self, flow: str, version: str, reason: str) -> None:
        pass

    def log(self, entry: LogEntry) -> None:
        pass


async def run() -> Rows:
    rows = await _no_op_fires()
    rows += await _real_processes()
    rows += await _spawning()
    return rows


async def _no_op_fires() -> Rows:
    lateness: list[float] = []
    before = _memory()
    began = perf_counter()
    flows = [_idle_flow(number) for number in range(_SCHEDULES)]
    parsing = perf_counter() - began
    async with _engine(_Listener()) as engine:
        for flow in flows:
            await engine.start(flow)
        memory = _memory() - before
        rest = await _cpu(asyncio.sleep(_REST))
        measured = [_measured(flow, number, lateness) for number, flow in enumerate(flows)]
        for flow in measured:
            await engine.start(flow)
        gc.collect()
        await asyncio.sleep(_WARM_UP)
        lateness.clear()
        busy = await _cpu(asyncio.sleep(_SECONDS))
    engine_late, engine_p99 = _spread(lateness)
    bare: list[float] = []
    bare_busy = await _cpu(_bare_fires(bare))
    bare_late, bare_p99 = _spread(bare)
    return [
        ("parse and check a schedule's flow", f"{parsing / _SCHEDULES * 1e6:.0f} us"),
        ("memory of 10,000 schedules", f"{memory / 1e6:.0f} MB (process {_memory() / 1e6:.0f} MB)"),
        ("CPU of one core with nothing firing", f"{rest:.1%}"),
        ("no-op fires", f"{len(lateness) / _SECONDS:.0f}/s at {busy:.1%} of a core"),
        ("  lateness p50 / p99", f"{engine_late * 1e3:.1f} / {engine_p99 * 1e3:.1f} ms"),
        ("  bare loop.call_at", f"{bare_late * 1e3:.1f} / {bare_p99 * 1e3:.1f} ms at {bare_busy:.1%} of a core"),
        ("  ratio, p99 lateness", f"{engine_p99 / bare_p99:.1f}"),
    ]


async def _real_processes() -> Rows:
    listener = _Listener()
    async with _engine(listener) as engine:
        for number in range(_SCHEDULES):
            name = f"s{number}"
            await engine.start(parse_flow(name, "1", scheduled_command(name, _cron(number), "/bin/true", [])))
        await asyncio.sleep(_WARM_UP)
        listener.lateness.clear()
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = await _cpu(asyncio.sleep(_SECONDS))
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        count = len(listener.lateness)
    late, p99 = _spread(listener.lateness)
    bare_late, bare_p99 = _spread(await _bare_processes())
    children = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    return [
        ("real processes", f"{count / _SECONDS:.0f}/s at {busy:.0%} of a core, children {children / _SECONDS:.0%}"),
        ("  lateness of the start p50 / p99", f"{late * 1e3:.1f} / {p99 * 1e3:.1f} ms"),
        ("  bare create_subprocess_exec", f"{bare_late * 1e3:.1f} / {bare_p99 * 1e3:.1f} ms"),
        ("  ratio, p99 lateness", f"{p99 / bare_p99:.1f}"),
        ("  failed", str(listener.failed)),
    ]


async def _bare_processes() -> list[float]:
    """The lateness of 200 processes started at once, second after second."""
    lateness: list[float] = []

    async def once(due: int) -> None:
        lateness.append(time() - due)
        await _bare_command()

    async with asyncio.TaskGroup() as tasks:
        for due in range(int(time()) + 1, int(time()) + 1 + _SECONDS):
            await asyncio.sleep(due - time())
            for _ in range(200):
                tasks.create_task(once(due))
    return lateness


async def _bare_command() -> None:
    process = await asyncio.create_subprocess_exec(
        "/bin/true", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    await process.communicate()


async def _spawning() -> Rows:
    runner = CommandRunner(base_environment({}))
    command = Command(("/bin/true",))

    async def ours(number: int) -> None:
        await runner.run(command, str(number))

    async def bare(_: int) -> None:
        await _bare_command()

    own, other = [], []
    for _ in range(_TURNS):  # by turns, since the machine's speed varies
        own.append(await _rate(ours))
        other.append(await _rate(bare))
    own_rate, own_cpu = _spread([rate for rate, _ in own])[0], _spread([cpu for _, cpu in own])[0]
    bare_rate, bare_cpu = _spread([rate for rate, _ in other])[0], _spread([cpu for _, cpu in other])[0]
    return [
        ("commands run, output captured", f"{own_rate:.0f}/s, {own_cpu * 1e6:.0f} us CPU each"),
        ("  bare create_subprocess_exec", f"{bare_rate:.0f}/s, {bare_cpu * 1e6:.0f} us CPU each"),
        ("  ratio, rate / CPU", f"{own_rate / bare_rate:.2f} / {own_cpu / bare_cpu:.2f}"),
    ]


def _engine(listener: _Listener) -> FlowEngine:
    async def resolve(name: str) -> Variable:
        raise LookupError(name)

    return FlowEngine(SystemClock(), UTC, listener, resolve)


def _idle_flow(number: int) -> FlowDefinition:
    name = f"schedule-{number}"
    never_now = (datetime.now(UTC) + timedelta(days=200)).month
    return parse_flow(name, "1", scheduled_command(name, f"0 0 0 1 {never_now} ?", "job", ["--number", str(number)]))


def _cron(number: int) -> str:
    """12,000 due times a minute over 10,000 schedules, the same number in each second."""
    return f"{number % 30}/30 * * * * ?" if number % 5 == 0 else f"{number // 5 % 60} * * * * ?"


def _measured(flow: FlowDefinition, number: int, lateness: list[float]) -> FlowDefinition:
    timed = parse_flow(flow.name, "2", scheduled_command(flow.name, _cron(number), "job", []))
    route = msgspec.structs.replace(timed.routes[0], steps=(_Measure(lateness=lateness),))
    return msgspec.structs.replace(timed, routes=(route,))


async def _bare_fires(lateness: list[float]) -> None:
    """The same fires with one timer handle each."""
    loop = asyncio.get_running_loop()
    offset = time() - loop.time()
    handles: dict[int, asyncio.TimerHandle] = {}

    def fire(number: int, due: float, every: int) -> None:
        lateness.append(time() - due)
        handles[number] = loop.call_at(due + every - offset, fire, number, due + every, every)

    minute = time() // 60 * 60
    for number in range(_SCHEDULES):
        every = 30 if number % 5 == 0 else 60
        due = minute + (number % 30 if number % 5 == 0 else number // 5 % 60)
        while due <= time():
            due += every
        handles[number] = loop.call_at(due - offset, fire, number, due, every)
    await asyncio.sleep(_SECONDS)
    for handle in handles.values():
        handle.cancel()


async def _cpu(work: Awaitable[None]) -> float:
    """The share of a core that this process uses meanwhile."""
    began, cpu = perf_counter(), process_time()
    await work
    return (process_time() - cpu) / (perf_counter() - began)


async def _rate(once: Callable[[int], Awaitable[None]]) -> tuple[float, float]:
    """How often in a second, and the CPU time of this process each, in seconds."""
    numbers = iter(range(_COMMANDS))

    async def worker() -> None:
        for number in numbers:
            await once(number)

    began, cpu = perf_counter(), process_time()
    await asyncio.gather(*(worker() for _ in range(_AT_ONCE)))
    return _COMMANDS / (perf_counter() - began), (process_time() - cpu) / _COMMANDS


def _spread(values: list[float]) -> tuple[float, float]:
    """Median and 99th percentile."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]


def _memory() -> int:
    """Resident bytes of this process."""
    with open("/proc/self/statm") as numbers:
        return int(numbers.read().split()[1]) * resource.getpagesize()
