"""Scripts do their worst, and servers and engines are killed: runs end on record, others are answered."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.nats_server import free_port
from tests.program import PROGRAM

PASSWORD = "one password for the faults"

pytestmark = pytest.mark.timeout(180)


class Site:
    """A server process that can be killed and started again on its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        settings = {
            "PENSTOCK_DATA": str(self.folder),
            "PENSTOCK_PORT": str(self.port),
            "PENSTOCK_ADMIN_PASSWORD": PASSWORD,
            "PENSTOCK_LOG_LEVEL": "error",
            "PENSTOCK_ENGINE_POOL": "1",
            "PENSTOCK_ENGINE_RUN_SECONDS": "30",
            "PENSTOCK_ENGINE_LOG_LEVEL": "error",
        }
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
        self._process = await asyncio.create_subprocess_exec(*PROGRAM, "serve", env={**inherited, **settings})

    async def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            await self._process.wait()

    @asynccontextmanager
    async def admin(self) -> AsyncIterator[httpx.AsyncClient]:
        """A client, once the server is ready."""
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=60) as client:
            await ready(client)
            body = {"UserName": "admin", "Password": PASSWORD}
            token = (await client.post("/identity/login/username", json=body)).raise_for_status().json()["Token"]
            client.headers["Authorization"] = f"Bearer {token}"
            yield client

    def engine(self) -> list[psutil.Process]:
        """The engine's process and everything below it."""
        for process in psutil.process_iter():
            try:
                mine = process.environ().get("PENSTOCK_ENGINE_FOLDER") == str(self.folder / "engine")
                if mine and "penstock.engine.program" in process.cmdline():
                    return [process, *process.children(recursive=True)]
            except psutil.Error:
                continue
        return []


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    site = Site(tmp_path)
    await site.start()
    yield site
    await site.stop()


async def ready(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                if (await client.get("/readyz")).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)


async def action(client: httpx.AsyncClient, name: str, content: str) -> str:
    answer = await client.post("/automation/action", json={"Name": name, "Content": content})
    return str(answer.raise_for_status().json()["Id"])


async def run(client: httpx.AsyncClient, id: str) -> httpx.Response:
    return await client.post(f"/automation/action/{id}/run", json={})


async def history(client: httpx.AsyncClient, id: str) -> list[dict[str, Any]]:
    return list((await client.get(f"/automation/action/{id}/history")).raise_for_status().json())


async def begun(client: httpx.AsyncClient, id: str) -> None:
    """Returns once a run is on record."""
    async with asyncio.timeout(60):
        while not await history(client, id):
            await asyncio.sleep(0.05)


async def test_a_run_survives_the_kill_of_its_server_as_failed(site: Site) -> None:
    async with site.admin() as client:
        id = await action(client, "slow", "import time; time.sleep(25)")
        assert (await run(client, await action(client, "quick", "1"))).text == "1"
        lost = asyncio.create_task(run(client, id))
        await begun(client, id)
        left = site.engine()
        await site.kill()
        with pytest.raises(httpx.TransportError):
            await lost
    gone, alive = await asyncio.to_thread(psutil.wait_procs, left, 20)
    assert (bool(gone), alive) == (True, [])
    await site.start()
    async with site.admin() as client, asyncio.timeout(60):
        while not (entry := (await history(client, id))[0])["Finished"]:
            await asyncio.sleep(0.1)
        assert (entry["StatusCode"], entry["Error"]) == (503, "the server that ran it was ended")
        assert (await run(client, await action(client, "again", "2"))).text == "2"


async def test_a_run_survives_the_kill_of_the_engine_as_failed_and_the_next_one_runs(site: Site) -> None:
    async with site.admin() as client:
        id = await action(client, "slow", "import time; time.sleep(25)")
        lost = asyncio.create_task(run(client, id))
        await begun(client, id)
        async with asyncio.timeout(60):
            while not any("kernel_main" in " ".join(each.cmdline()) for each in site.engine()):
                await asyncio.sleep(0.1)
        site.engine()[0].send_signal(signal.SIGKILL)
        assert (await lost).status_code == 503
        [entry] = await history(client, id)
        assert (entry["Finished"], entry["StatusCode"]) == (True, 503)
        assert (await run(client, await action(client, "next", "3"))).text == "3"


async def test_the_server_answers_others_while_scripts_do_their_worst(site: Site) -> None:
    worst = {
        "loop": "while True: pass",
        "memory": "held = []\nwhile True: held.append(bytearray(50 << 20))",
        "forks": "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        "output": "while True: print('x' * 100_000)",
        "crash": "import os; os.kill(os.getpid(), 9)",
    }
    async with site.admin() as client:
        ids = {name: await action(client, name, content) for name, content in worst.items()}
        runs = {name: asyncio.create_task(run(client, id)) for name, id in ids.items()}
        answered = 0
        while not all(task.done() for task in runs.values()):
            assert (await client.get("/automation/action")).status_code == 200
            answered += 1
            await asyncio.sleep(0.1)
        assert answered > 10
        for name, task in runs.items():
            assert (task.result().status_code, task.result().json()["code"]) == (422, "run-failed"), name
            [entry] = await history(client, ids[name])
            assert entry["Finished"], name
        assert (await run(client, await action(client, "after", "4"))).text == "4"
