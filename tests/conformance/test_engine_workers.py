"""Workers of the engine share the bus: they take runs in turn, keep notebooks, and may be killed."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock.bus.bus import Bus
from penstock.bus.credentials import BusKeys, UserCredential
from penstock.bus.embedded import EmbeddedServer
from penstock.engine.client import EngineClient
from penstock.engine.message import RunRequest
from penstock.engine.result import Results
from penstock.kernel.errors import Forbidden, Invalid, TooManyRequests, Unavailable
from tests.nats_server import NatsServer

pytest_plugins = ("tests.nats",)

Process = asyncio.subprocess.Process


async def nothing() -> None:
    """The workers of these tests run already."""


class Workers:
    """Two worker processes, and two servers that use them."""

    def __init__(self, server: NatsServer, folder: Path, bus: Bus) -> None:
        self.processes: list[Process] = []
        self.servers = [EngineClient(bus, nothing), EngineClient(bus, nothing)]
        self._server = server
        self._folder = folder

    async def complete(self) -> None:
        """Returns when two workers take requests; those that were killed are replaced."""
        self.processes = [process for process in self.processes if process.returncode is None]
        while len(self.processes) < 2:
            self.processes.append(await start(self._server, self._folder))
        async with asyncio.timeout(60):
            while len(await self.servers[0].workers()) != 2:
                await asyncio.sleep(0.1)

    async def run(self, document: str, server: int = 0, **options: Any) -> Results:
        results = Results()
        request = RunRequest(id=uuid4().hex, document=document, **options)
        async with asyncio.timeout(60):
            async for frame in self.servers[server].run(request):
                results.take(frame)
        return results

    async def worker_of(self, notebook: str) -> Process:
        """The process that has the notebook: kernels know its id as their parent's, seen from outside."""
        await self.run("open('who', 'w').write('1')", notebook=notebook)
        for process in self.processes:
            for child in children(process.pid):
                if Path(f"/proc/{child}/root/run/work/who").exists():
                    return process
        raise AssertionError("no worker has the notebook")


@pytest.fixture(scope="module")
async def cluster(nats_server: NatsServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Workers]:
    folder = tmp_path_factory.mktemp("workers")
    (folder / "engine.creds").write_text(nats_server.keys.engine_user(None).file_text())
    async with await nats_server.connect() as bus:
        cluster = Workers(nats_server, folder, bus)
        yield cluster
    for process in cluster.processes:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@pytest.fixture
async def workers(cluster: Workers) -> Workers:
    await cluster.complete()
    return cluster


async def start(server: NatsServer, folder: Path) -> Process:
    settings = {
        "NATS_URL": server.url,
        "CREDENTIALS": str(folder / "engine.creds"),
        "FOLDER": str(folder / uuid4().hex),
        "POOL": "0",
        "RUNS": "2",
        "LOG_LEVEL": "error",
    }
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "penstock.cli.main", "notebooks"),
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            **{f"PENSTOCK_ENGINE_{name}": value for name, value in settings.items()},
        },
    )


async def test_all_servers_reach_the_same_kernel_of_a_notebook(workers: Workers) -> None:
    notebook = uuid4().hex
    await workers.run("n = 1", notebook=notebook)
    counted = [await workers.run("n += 1\nn", server, notebook=notebook) for server in (0, 1, 0, 1)]
    assert [results.answer(None).body for results in counted] == [b"2", b"3", b"4", b"5"]


async def test_servers_that_ask_at_once_agree_on_a_worker(workers: Workers) -> None:
    notebook = uuid4().hex
    code = "seen = globals().get('seen', 0) + 1\nseen"
    found = await asyncio.gather(*(workers.run(code, number % 2, notebook=notebook) for number in range(6)))
    assert sorted(results.answer(None).body for results in found) == [b"1", b"2", b"3", b"4", b"5", b"6"]


async def test_a_large_result_arrives_whole(workers: Workers) -> None:
    results = await workers.run("print('é' * 3_000_000)")
    assert results.answer(None).body == ("é" * 3_000_000 + "\n").encode()


async def test_a_caller_who_leaves_interrupts_the_code(workers: Workers) -> None:
    notebook = uuid4().hex
    request = RunRequest(id=uuid4().hex, document="n = 1\nprint(1, flush=True)\nwhile True: pass", notebook=notebook)
    frames = workers.servers[0].run(request)
    await anext(frames)
    await frames.aclose()
    assert (await workers.run("n", notebook=notebook)).answer(None).body == b"1"


async def test_the_credential_of_a_worker_allows_nothing_else(nats_server: NatsServer) -> None:
    text = nats_server.keys.engine_user(None).file_text()
    credential = UserCredential.of_file_text(text)
    assert credential.file_text() == text
    bus = await Bus.connect(nats_server.url, credential, name="worker", inbox_prefix="service.engine.inbox")
    async with bus:
        with pytest.raises(Forbidden):
            await bus.subscribe("events.>", nowhere)
        with pytest.raises(Forbidden):
            await bus.publish("events.x", b"", timeout=2)
    with pytest.raises(Invalid):
        UserCredential.of_file_text("nothing")


async def test_without_workers_runs_are_refused_as_unavailable(nats_server: NatsServer, tmp_path: Path) -> None:
    keys = BusKeys.generate()
    async with (
        EmbeddedServer(tmp_path, keys) as server,
        await Bus.connect(server.url, keys.server_user(), name="server") as bus,
    ):
        client = EngineClient(bus, nothing)
        assert await client.workers() == []
        for notebook in (None, "n"):
            with pytest.raises(Unavailable):
                async for _ in client.run(RunRequest(id="x", document="1", notebook=notebook)):
                    pass


async def test_a_notebook_moves_when_its_worker_is_killed(workers: Workers) -> None:
    notebook = uuid4().hex
    await workers.run("n = 1", notebook=notebook)
    worker = await workers.worker_of(notebook)
    kernels = children(worker.pid)
    worker.send_signal(signal.SIGKILL)
    await worker.wait()
    moved = await workers.run("n", server=1, notebook=notebook)
    assert moved.error == "NameError: name 'n' is not defined"
    assert (await workers.run("6 * 7", server=0, notebook=notebook)).answer(None).body == b"42"
    async with asyncio.timeout(20):
        while [kernel for kernel in kernels if is_running(kernel)]:
            await asyncio.sleep(0.1)


async def test_a_run_whose_worker_dies_ends_as_unavailable(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.engine.client._SILENCE_SECONDS", 5.0)
    notebook = uuid4().hex
    worker = await workers.worker_of(notebook)
    request = RunRequest(
        id=uuid4().hex, document="print(1, flush=True)\nimport time; time.sleep(60)", notebook=notebook
    )
    frames = workers.servers[0].run(request)
    await anext(frames)
    worker.send_signal(signal.SIGKILL)
    with pytest.raises((Unavailable, TooManyRequests)):
        async for _ in frames:
            pass
    await worker.wait()


async def test_a_worker_ends_although_runs_keep_coming(workers: Workers) -> None:
    ending, other = workers.processes

    async def ask() -> None:
        frames = workers.servers[0].run(RunRequest(id=uuid4().hex, document="import time; time.sleep(120)"))
        with suppress(Unavailable, TooManyRequests):
            async for _ in frames:
                pass

    async def keep_asking() -> None:
        async with asyncio.TaskGroup() as asking:
            while True:
                asking.create_task(ask())
                await asyncio.sleep(0.005)

    asking = asyncio.create_task(keep_asking())
    await asyncio.sleep(0.5)
    ending.terminate()
    async with asyncio.timeout(30):
        await ending.wait()
    asking.cancel()
    await asyncio.wait({asking})
    assert other.returncode is None


async def nowhere(message: object) -> None:
    """Nothing arrives."""


def children(process: int) -> list[int]:
    """All processes below it."""
    found: list[int] = []
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == process:
                found += [int(entry), *children(int(entry))]
    return found


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
