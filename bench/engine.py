"""Runs of code: through the engine and its HTTP API, beside Jupyter's bare client in the same run."""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median, quantiles
from uuid import uuid4

import httpx
import psutil
from jupyter_client.manager import AsyncKernelManager
from tests.application import running_application

from penstock.engine.engine import Engine, open_engine
from penstock.engine.isolation import find_isolation
from penstock.engine.languages import PYTHON
from penstock.engine.message import CompleteRequest, Completion, RunRequest
from penstock.engine.settings import engine_settings
from penstock.server.log import set_up_logs

TITLE = "Interactive engine: code to result"
_RUNS = 20
_AT_ONCE = 50
_CODE = "total = sum(range(1000))\ntotal"


async def run() -> list[tuple[str, str]]:
    set_up_logs("console", "error")
    with tempfile.TemporaryDirectory() as folder:
        rows = await _engine(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        return rows + await _http(Path(folder))


class _Bare:
    """Jupyter's own kernel and client. fresh, warm: seconds that runs took."""

    def __init__(self) -> None:
        self.fresh: list[float] = []
        self.warm: list[float] = []

    async def start(self) -> None:
        self._manager = AsyncKernelManager(kernel_name="python3", transport="ipc")
        began = time.perf_counter()
        await self._manager.start_kernel(stdout=-3, stderr=-3)
        self._client = self._manager.client()
        self._client.start_channels()
        await self._client.wait_for_ready(timeout=30)
        await self._execute()
        self.fresh.append(time.perf_counter() - began)

    async def run(self) -> None:
        self.warm.append(await _timed(self._execute))

    async def stop(self) -> None:
        self._client.stop_channels()
        await self._manager.shutdown_kernel(now=True)

    async def _execute(self) -> None:
        await self._client.execute_interactive(_CODE, output_hook=lambda message: None)


async def _engine(folder: Path) -> list[tuple[str, str]]:
    """Runs alternate with the bare kernel's, so that the machine's mood falls on both."""
    settings = engine_settings({"PENSTOCK_ENGINE_POOL": "2", "PENSTOCK_ENGINE_FOLDER": str(folder)})
    isolation = find_isolation(settings)
    rows = [("isolation", type(isolation).__name__)]
    async with open_engine(isolation) as engine:
        await _filled(engine)
        await asyncio.sleep(5)  # the cache of completion is being filled
        rows.append(("idle memory of a pooled kernel", f"{_idle_memory() / 2**20:.0f} MiB"))
        bare = _Bare()
        fresh = []
        for _ in range(3):
            await bare.start()
            fresh.append(await _fresh_time(engine))
            await bare.stop()
        await bare.start()
        await _run_time(engine, "warm")
        pooled, warm = [], []
        for _ in range(_RUNS):
            await _filled(engine)
            await bare.run()
            pooled.append(await _run_time(engine, None))
            warm.append(await _run_time(engine, "warm"))
        await bare.stop()
        rows += [
            ("bare client, warm kernel, p50", _ms(bare.warm)),
            ("pooled kernel, p50", f"{_ms(pooled)}, {median(pooled) / median(bare.warm):.2f}x of the bare warm kernel"),
            ("notebook's kernel, p50", f"{_ms(warm)}, {median(warm) / median(bare.warm):.2f}x"),
            ("bare client, new kernel, p50", _ms(bare.fresh)),
            ("new kernel, p50", f"{_ms(fresh)}, {median(fresh) / median(bare.fresh):.2f}x of the bare new kernel"),
        ]
        began = time.perf_counter()
        await asyncio.gather(*(_run_time(engine, None) for _ in range(_AT_ONCE)))
        seconds = time.perf_counter() - began
        rows.append((f"{_AT_ONCE} runs at once", f"{seconds:.1f} s, {_AT_ONCE / seconds:.1f} a second"))
        rows += await _suggestions(engine)
    return rows


async def _suggestions(engine: Engine) -> list[tuple[str, str]]:
    codes = ["pri", "tot", "import os\nos.pat", "[].app", "import json\njson.du", "x = 'a'\nx.up"] * 8
    began = time.perf_counter()
    await _complete(engine, codes[0])
    first = time.perf_counter() - began
    times = [await _timed(lambda code=code: _complete(engine, code)) for code in codes]
    p99 = quantiles(times, n=100)[98]
    return [("suggestions, first, p50, p99", f"{first * 1000:.0f} ms, {_ms(times)}, {p99 * 1000:.1f} ms")]


async def _complete(engine: Engine, code: str) -> list[Completion]:
    return await engine.complete(CompleteRequest(notebook="warm", code=code, position=len(code)))


async def _http(folder: Path) -> list[tuple[str, str]]:
    os.environ["PENSTOCK_ENGINE_POOL"] = "2"
    async with running_application(folder) as application:
        client, notebook = application.operator, str(uuid4())

        async def interactive() -> httpx.Response:
            return await client.post("/interactive/engine/run", json={"NotebookId": notebook, "Code": _CODE})

        made = await client.post("/automation/action", json={"Name": "bench", "Content": _CODE})
        address = f"/automation/action/{made.json()['Id']}/run"
        await interactive()
        await asyncio.sleep(5)
        bare = _Bare()
        await bare.start()
        warm, action = [], []
        for _ in range(_RUNS):
            await asyncio.sleep(1.5)  # for the pool
            await bare.run()
            warm.append(await _timed(interactive))
            action.append(await _timed(lambda: client.post(address, json={})))
        await bare.stop()
    base = median(bare.warm)
    return [
        ("HTTP, notebook's kernel, p50", f"{_ms(warm)}, {median(warm) / base:.2f}x of the bare warm kernel"),
        ("HTTP, action in a pooled kernel, p50", f"{_ms(action)}, {median(action) / base:.2f}x"),
    ]


async def _run_time(engine: Engine, notebook: str | None) -> float:
    """Until the result is known; a one-time kernel is ended after that."""
    ended: list[float] = []
    began = time.perf_counter()
    await engine.run(
        RunRequest(id=uuid4().hex, document=_CODE, notebook=notebook),
        lambda frame: ended.append(time.perf_counter()),
    )
    return ended[-1] - began


async def _fresh_time(engine: Engine) -> float:
    while engine.pool.ready:
        await (await engine.pool.take(await engine.languages.find(PYTHON))).close()
    began = time.perf_counter()
    await engine.run(RunRequest(id=uuid4().hex, document=_CODE, notebook="fresh", fresh=True), lambda frame: None)
    return time.perf_counter() - began


async def _filled(engine: Engine) -> None:
    while engine.pool.ready < 2:
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.2)


async def _timed(call: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await call()
    return time.perf_counter() - began


def _idle_memory() -> float:
    """Of the kernels that wait, what they do not share."""
    found = [
        process.memory_full_info().uss
        for process in psutil.Process().children(recursive=True)
        if any("kernel_main" in part for part in process.cmdline()) and "bwrap" not in process.name()
    ]
    return median(found)


def _ms(times: list[float]) -> str:
    return f"{median(times) * 1000:.1f} ms"
