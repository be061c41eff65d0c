"""What a kernel of Python has loaded, what it shows at the end of a run, and which ones wait."""

import asyncio
from pathlib import Path

from penstock.engine.engine import Engine
from tests.conformance.kernels import run, running_engine


async def test_what_programs_write_is_shown_however_short_the_run(kernels: Engine) -> None:
    code = "import os\n_ = os.system('echo from a program; echo and an error >&2'); _ = os.write(1, b'bytes')"
    for _ in range(30):
        shown = await run(kernels, code, notebook="programs")
        printed = {text for output in shown.outputs for text in str(output.data["text/plain"]).splitlines()}
        assert printed == {"from a program", "and an error", "bytes"}


async def test_processes_that_the_code_makes_print_too(kernels: Engine) -> None:
    code = """
import os, sys
if (child := os.fork()) == 0:
    print('child'); sys.stdout.flush(); os._exit(0)
_ = os.waitpid(child, 0)
print('parent')
"""
    assert set((await run(kernels, code)).text.split()) == {"child", "parent"}


async def test_a_run_that_closes_its_output_goes_on(kernels: Engine) -> None:
    assert (await run(kernels, "import os\nos.close(1)\nos.close(2)\nprint('shown')\n6 * 7")).value == 42


async def test_code_may_load_what_kernels_do_without(kernels: Engine) -> None:
    code = """
import sys
before = [name for name in ('debugpy', 'jedi', 'parso') if name in sys.modules]
import debugpy, jedi, parso
[before, [each.name for each in jedi.Script('import json; json.du').complete()]]
"""
    assert (await run(kernels, code)).value == [[], ["dump", "dumps"]]


async def test_garbage_of_the_code_is_collected(kernels: Engine) -> None:
    code = """
import gc, weakref
class Node: pass
def circle():
    node = Node(); node.self = node
    return weakref.ref(node)
gone = [circle() for _ in range(5000)]
[gc.isenabled(), gone[0]() is None]
"""
    assert (await run(kernels, code)).value == [True, True]


async def test_kernels_that_began_without_the_cache_of_completion_give_way(tmp_path: Path) -> None:
    async with running_engine(tmp_path, POOL="1") as engine, asyncio.timeout(60):
        while not engine.pool.ready:
            await asyncio.sleep(0.02)
        began_without = engine.pool._ready[0]
        while began_without.alive or not engine.pool.ready:
            await asyncio.sleep(0.02)
        shown = await run(engine, "import os\nos.listdir(os.environ['XDG_CACHE_HOME'])")
    assert shown.value == ["jedi"]
