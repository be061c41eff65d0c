"""Cold start to `/readyz`, against the start of a bare application, and what every process takes."""

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

import psutil

from bench.http_surface import answering, bare, free_port

TITLE = "Start on an empty folder, and memory of every process"
NAMES = (
    ("penstock up", " up"),
    ("server", " serve"),
    ("NATS", "nats-server"),
    ("agent", " agent"),
    ("watchdog", "watch"),
)


async def run() -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        async with bare(folder):
            bare_seconds = time.perf_counter() - started
        port = free_port()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "PENSTOCK_DATA": f"{folder}/data",
            "PENSTOCK_PORT": str(port),
        }
        started = time.perf_counter()
        program = str(Path(sys.executable).with_name("penstock"))
        process = await asyncio.create_subprocess_exec(
            program, "up", env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        try:
            await answering(f"http://127.0.0.1:{port}/readyz")
            seconds = time.perf_counter() - started
            await shown(process, "What next")
            await asyncio.sleep(5)
            rows = memory(process.pid)
        finally:
            process.terminate()
            await process.communicate()
    ratio = f"{seconds / bare_seconds:.1f} x the start of a bare Starlette application on a store"
    return [("cold start to /readyz", ratio), *rows]


async def shown(process: asyncio.subprocess.Process, text: str) -> None:
    """Reads what the program writes until it has written the text."""
    written = b""
    assert process.stdout is not None
    while text.encode() not in written:
        written += await process.stdout.read(1024)


def memory(pid: int) -> list[tuple[str, str]]:
    """What is resident, of the program and all that it started."""
    top = psutil.Process(pid)
    rows = []
    for process in (top, *top.children(recursive=True)):
        command = " ".join(process.cmdline())
        name = next((name for name, part in NAMES if part in command), command[:40])
        rows.append((name, f"{process.memory_info().rss / 2**20:.0f} MB"))
    return rows
