"""What was acknowledged is there when the process dies or the disk is full."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.conformance.conftest import Database
from tests.conformance.library import BOOKS, LOANS

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def writing_process(url: str, *arguments: str) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.conformance.writing_process", url, *arguments, cwd=ROOT, stdin=PIPE, stdout=PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def read_line(process: Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.readline()).decode().strip()


async def kill_while_writing(url: str, acknowledged: int) -> list[str]:
    """The names that a writing process acknowledged before it was killed, at least so many."""
    async with writing_process(url) as process:
        names = [await read_line(process) for _ in range(acknowledged)]
        process.send_signal(signal.SIGKILL)
        assert process.stdout is not None
        names += (await process.stdout.read()).decode().split("\n")[:-1]
        await process.wait()
    assert all(names)
    return names


@pytest.mark.parametrize("acknowledged", [1, 50, 400])
async def test_what_was_acknowledged_survives_a_kill_and_no_commit_is_there_by_half(
    database: Database, acknowledged: int
) -> None:
    names = await kill_while_writing(database.url, acknowledged)
    store = database.store()
    await store.open([BOOKS], [LOANS])
    titles = {str(title) for (title,) in await store.values(BOOKS, ["title"])}
    assert [name for name in names if f"{name}a" not in titles] == []
    assert [title for title in titles if {f"{title[:-1]}a", f"{title[:-1]}b"} - titles] == []
    assert await store.count_entries(LOANS) == len(titles) / 2
    await store.close()


async def test_a_full_disk_is_unavailable_and_passes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    async with writing_process(url, "1000000") as process:
        acknowledged = 0
        while not (line := await read_line(process)).startswith("full"):
            acknowledged += line.isdigit()
        assert line == f"full: the disk does not answer as it should; {acknowledged} books"
        assert process.stdin is not None
        process.stdin.write(b"go on\n")
        assert await read_line(process) == "again"
        assert await process.wait() == 0
