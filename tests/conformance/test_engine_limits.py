"""Code that takes too much, or does its worst: each ends in a clear failure while the engine goes on."""

import asyncio
import os
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

import pytest

from penstock.engine.engine import Engine
from penstock.engine.folders import runtime_folder
from penstock.engine.isolation import Bubblewrap, find_isolation
from penstock.engine.message import RunRequest
from penstock.engine.usage import ProcessTable, disk_of
from penstock.kernel.errors import Invalid
from tests.conformance.kernels import run, running_engine, settings_for


async def still_works(engine: Engine) -> bool:
    return (await run(engine, "6 * 7")).value == 42


async def test_an_endless_loop_is_interrupted(kernels: Engine) -> None:
    shown = await run(
        kernels, "import time\nprint('begun', flush=True); time.sleep(0.5)\nwhile True: pass", seconds=5.0
    )
    assert shown.error == "the run took longer than 5 s"
    assert shown.failure == "LimitReached"
    assert shown.text.startswith("begun\n")
    assert "KeyboardInterrupt" not in shown.text


async def test_a_notebook_survives_an_interrupt_with_its_state(kernels: Engine) -> None:
    notebook = uuid4().hex
    await run(kernels, "n = 1", notebook=notebook)
    await run(kernels, "while True: pass", notebook=notebook, seconds=0.5)
    assert (await run(kernels, "n", notebook=notebook)).value == 1


async def test_code_that_ignores_the_interrupt_loses_its_kernel(kernels: Engine) -> None:
    notebook = uuid4().hex
    code = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nn = 1\nwhile True: pass"
    assert (await run(kernels, code, notebook=notebook, seconds=0.5)).failure == "LimitReached"
    assert (await run(kernels, "n", notebook=notebook)).error == "NameError: name 'n' is not defined"


async def test_memory_of_one_process_is_bounded(kernels: Engine) -> None:
    assert (await run(kernels, "bytearray(400 << 20)")).error == "MemoryError"
    assert await still_works(kernels)


async def test_memory_of_all_processes_together_is_bounded(kernels: Engine) -> None:
    code = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(60 << 20)
        time.sleep(60)
time.sleep(60)
"""
    assert (await run(kernels, code)).error == "the run used more than 320 MiB of memory"
    assert await still_works(kernels)


async def test_a_fork_bomb_ends(kernels: Engine) -> None:
    code = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    shown = await run(kernels, code, seconds=5.0)
    assert shown.failure == "LimitReached"
    assert await still_works(kernels)


async def test_the_number_of_processes_is_bounded(kernels: Engine) -> None:
    if isinstance(kernels.isolation, Bubblewrap) or os.geteuid() != 0:
        code = """
import os, time
count = 0
try:
    while count < 1000:
        if os.fork() == 0:
            time.sleep(60)
        count += 1
except BlockingIOError:
    pass
count < 64
"""
        assert (await run(kernels, code)).value is True
    else:
        pytest.skip("root without bubblewrap has no such bound")


@pytest.mark.parametrize(
    "code",
    [
        "print('x' * 50_000_000)",
        "for _ in range(1000):\n    print('x' * 1_000_000)",
        "import os\nwhile True:\n    os.write(1, b'x' * 65536)",
        "while True:\n    display('x' * 100_000)",
    ],
)
async def test_a_flood_of_output_ends_the_run(kernels: Engine, code: str) -> None:
    shown = await run(kernels, code)
    assert shown.error == "the run wrote more than 1 MiB"
    assert len(shown.text) < 4_000_000
    assert await still_works(kernels)


async def test_a_full_working_folder_ends_the_run(kernels: Engine) -> None:
    code = "import time\nfor n in range(30):\n    open(str(n), 'wb').write(b'x' * 1_000_000)\ntime.sleep(60)"
    assert (await run(kernels, code)).error == "the run wrote more than 24 MiB of files"


async def test_a_file_cannot_grow_beyond_the_limit(kernels: Engine) -> None:
    shown = await run(kernels, "with open('f', 'wb') as f:\n    f.write(b'x' * (30 << 20))")
    assert shown.error == "OSError: [Errno 27] File too large"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os.kill(os.getpid(), 9)", "the kernel ended by SIGKILL"),
        ("import os; os._exit(3)", "the kernel ended with exit code 3"),
        ("import ctypes; ctypes.string_at(0)", "the kernel ended by SIGSEGV"),
    ],
)
async def test_a_kernel_that_dies_fails_its_run_at_once(kernels: Engine, code: str, reason: str) -> None:
    shown = await run(kernels, f"print('begun', flush=True)\n{code}")
    assert (shown.error, shown.failure) == (reason, "KernelLost")
    assert await still_works(kernels)


async def test_a_notebook_has_a_new_kernel_after_a_crash(kernels: Engine) -> None:
    notebook = uuid4().hex
    await run(kernels, "import os; os.kill(os.getpid(), 9)", notebook=notebook)
    assert (await run(kernels, "1", notebook=notebook)).value == 1


async def test_garbage_as_a_document_is_a_failed_run(kernels: Engine) -> None:
    shown = await run(kernels, "PK\x03\x04\x00\x00garbage")
    assert shown.error is not None
    assert "control character" in shown.error


async def test_a_cancelled_run_leaves_no_process(kernels: Engine) -> None:
    begun = asyncio.Event()

    def take(frame: object) -> None:
        begun.set()

    code = "import subprocess\nprint('x', flush=True)\nsubprocess.run(['sleep', '4321'], start_new_session=True)"
    running = asyncio.create_task(kernels.run(RunRequest(id="x", document=code), take))
    await begun.wait()
    running.cancel()
    await asyncio.wait({running})
    assert not [command for command in commands() if b"sleep\x004321" in command]


async def test_the_end_of_the_engine_is_the_end_of_its_kernels(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        await run(engine, "import subprocess\nsubprocess.Popen(['sleep', '5432'])", notebook="n")
        assert [command for command in commands() if b"sleep\x005432" in command]
    assert not [command for command in commands() if b"sleep\x005432" in command]


async def test_without_bubblewrap_limits_hold_and_nothing_is_left_over(tmp_path: Path) -> None:
    async with running_engine(tmp_path, ISOLATION="limits") as engine:
        assert (await run(engine, "bytearray(400 << 20)")).error == "MemoryError"
        assert (await run(engine, "while True: pass", seconds=0.5)).failure == "LimitReached"
        await run(engine, "n = 1", notebook="kept")
        leave = "import subprocess\nsubprocess.Popen(['sleep', '6543'], start_new_session=True)"
        assert (await run(engine, leave)).error is None
        assert not [command for command in commands() if b"sleep\x006543" in command]
        assert (await run(engine, "n", notebook="kept")).value == 1  # the end of one kernel is not that of another
        assert any("bubblewrap is not used" in statement for statement in engine.isolation.statements)


async def test_folders_of_an_engine_that_was_killed_go_with_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    short = Path(mkdtemp(prefix="k"))
    monkeypatch.setenv("TMPDIR", str(short))
    left = short / "penstock-kernels-left"
    left.mkdir()
    with runtime_folder() as first, runtime_folder() as second:
        assert not left.exists()
        assert first.exists()
        assert second.exists()
    assert list(short.iterdir()) == []
    short.rmdir()


def test_bubblewrap_that_is_demanded_must_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Invalid, match="PENSTOCK_ENGINE_ISOLATION"):
        find_isolation(settings_for(tmp_path, ISOLATION="bubblewrap"))


def test_memory_and_disk_of_what_is_gone_are_none(tmp_path: Path) -> None:
    assert ProcessTable().memory_of(2**22 + 1) == 0
    assert ProcessTable().memory_of(os.getpid()) > 0
    assert disk_of(tmp_path / "gone") == 0


def commands() -> list[bytes]:
    """The command lines of all processes."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                found.append(Path(f"/proc/{entry}/cmdline").read_bytes())
            except OSError:
                continue
    return found
