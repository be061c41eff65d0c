"""One job, an API call that runs a script to its end, here and in Prefect.

Prefect comes from the environment that PREFECT names (`python -m venv`, and `pip install prefect` in it): its server,
and a process that serves the flow and asks the server for work every 10 s, as it comes, or every second. Both keep each
run on record. Penstock runs the code apart from the machine, Prefect as its own user.
"""

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from bench.http_surface import free_port, penstock

TITLE = "Side by side: API call to finished script"
RUNS = 7
_NUMBER = 1000
_EXPECTED = str(sum(range(_NUMBER)))
_POOL_SECONDS = 1.0
_LOOK_SECONDS = 0.01
_MOST_SECONDS = 120
_SCRIPT = "# parameters\nnumber: int = 1\n\nsum(range(number))"
_FLOW = """
from prefect import flow

@flow
def total(number: int) -> int:
    return sum(range(number))

if __name__ == "__main__":
    total.serve(name="bench")
"""

Job = Callable[[], Awaitable[None]]


async def run() -> list[tuple[str, str]]:
    programs = Path(os.environ.get("PREFECT", "")) / "bin"
    if not os.environ.get("PREFECT") or not (programs / "prefect").exists():
        return [("skipped", "PREFECT does not name an environment with Prefect: pip install prefect")]
    with tempfile.TemporaryDirectory() as work:
        async with AsyncExitStack() as stack:
            jobs = {
                "Penstock": await stack.enter_async_context(_ours(Path(work))),
                "Prefect": await stack.enter_async_context(_prefect(programs, Path(work) / "as-it-comes")),
                "Prefect, asking every second": await stack.enter_async_context(
                    _prefect(programs, Path(work) / "every-second", PREFECT_RUNNER_POLL_FREQUENCY="1")
                ),
            }
            return await _compared(jobs)


async def _compared(jobs: dict[str, Job]) -> list[tuple[str, str]]:
    """Runs alternate, so that the machine's mood falls on all."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        await job()  # the first one loads what the others find
    for _ in range(RUNS):
        for name, job in jobs.items():
            await asyncio.sleep(_POOL_SECONDS)
            began = time.perf_counter()
            await job()
            times[name].append(time.perf_counter() - began)
    ours = median(times["Penstock"])
    rows = [("Penstock, p50", f"{ours * 1000:,.0f} ms")]
    for name, each in list(times.items())[1:]:
        rows.append((f"{name}, p50", f"{median(each) * 1000:,.0f} ms, {median(each) / ours:,.0f}x"))
    return rows


@asynccontextmanager
async def _ours(work: Path) -> AsyncIterator[Job]:
    async with (
        penstock(str(work)) as (port, key),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers={"x-api-key": key}, timeout=60) as client,
    ):
        made = await client.post("/automation/action", json={"Name": "bench", "Content": _SCRIPT})
        address = f"/automation/action/{made.raise_for_status().json()['Id']}/run"
        parameters = [{"Name": "number", "ValueJson": str(_NUMBER)}]

        async def job() -> None:
            answer = await client.post(address, json={"Parameters": parameters})
            assert answer.raise_for_status().text == _EXPECTED, answer.text

        yield job


@asynccontextmanager
async def _prefect(programs: Path, work: Path, **settings: str) -> AsyncIterator[Job]:
    work.mkdir()
    (work / "flow.py").write_text(_FLOW)
    port = free_port()
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(work),
        "PREFECT_HOME": str(work / "prefect"),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        **settings,
    }
    server = (str(programs / "prefect"), "server", "start", "--host", "127.0.0.1", "--port", str(port))
    async with (
        _program(server, work, environment),
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api", timeout=60) as client,
    ):
        await _answer(client, "/health")
        async with _program((str(programs / "python"), "flow.py"), work, environment):
            deployment = (await _answer(client, "/deployments/name/total/bench"))["id"]

            async def job() -> None:
                body = {"parameters": {"number": _NUMBER}, "state": {"type": "SCHEDULED"}}
                made = await client.post(f"/deployments/{deployment}/create_flow_run", json=body)
                await _completed(client, made.raise_for_status().json()["id"])

            yield job


@asynccontextmanager
async def _program(command: tuple[str, ...], work: Path, environment: dict[str, str]) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=work,
        env=environment,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def _answer(client: httpx.AsyncClient, path: str) -> Any:
    """What the path answers once it does."""
    async with asyncio.timeout(_MOST_SECONDS):
        while True:
            with suppress(httpx.TransportError):
                found = await client.get(path)
                if found.is_success:
                    return found.json()
            await asyncio.sleep(_LOOK_SECONDS)


async def _completed(client: httpx.AsyncClient, flow_run: str) -> None:
    """Returns when the run has succeeded."""
    async with asyncio.timeout(_MOST_SECONDS):
        while True:
            state = (await client.get(f"/flow_runs/{flow_run}")).raise_for_status().json()["state"]
            if state["type"] == "COMPLETED":
                return
            assert state["type"] not in ("FAILED", "CRASHED", "CANCELLED"), state
            await asyncio.sleep(_LOOK_SECONDS)
