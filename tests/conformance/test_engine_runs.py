"""Documents run in kernels: cells, parameters, values between kernels, files, notebooks that keep their state."""

import asyncio
import json
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.engine.engine import Engine
from penstock.engine.message import CompleteRequest, Completion, RunRequest
from penstock.engine.result import Results
from penstock.kernel.errors import TooManyRequests
from tests.conformance.kernels import run, running_engine
from tests.unit.test_documents import sample


@pytest.fixture
def notebook() -> str:
    return uuid4().hex


async def test_a_run_shows_what_was_printed_and_its_result(kernels: Engine) -> None:
    shown = await run(kernels, "print('hello')\n{'a': [1, None, 'é']}")
    assert [output.kind for output in shown.outputs] == ["stream", "result"]
    assert (shown.text.startswith("hello\n"), shown.value, shown.error) == (True, {"a": [1, None, "é"]}, None)


async def test_a_kernel_begins_empty(kernels: Engine) -> None:
    shown = await run(kernels, "[Out, sorted(name for name in globals() if name[0] != '_')]")
    assert shown.value == [{}, ["In", "Out", "exit", "get_ipython", "open", "quit"]]


async def test_an_error_ends_the_run_with_the_traceback_of_the_code(kernels: Engine) -> None:
    shown = await run(kernels, "def f():\n    raise ValueError('bad')\n#!python\nf()\n#!python\nprint('never')")
    assert shown.error == "ValueError: bad"
    assert "raise ValueError('bad')" in shown.text
    assert "never" not in shown.text
    assert "site-packages" not in shown.text


async def test_every_run_has_a_kernel_of_its_own(kernels: Engine) -> None:
    await run(kernels, "mine = 1; open('mine.txt', 'w').write('1')")
    shown = await run(kernels, "import os\n('mine' in globals(), os.listdir())")
    assert shown.value == [False, []]


async def test_parameters_are_there_before_the_first_code(kernels: Engine) -> None:
    document = sample("weather.dib")
    assert (await run(kernels, document)).value == {"city": "Bern", "mean": 7.83}
    given = {"city": "Zürich", "readings": [1, 2]}
    assert (await run(kernels, document, parameters=given)).value == {"city": "Zürich", "mean": 1.5}


async def test_answers_to_questions_have_their_types(kernels: Engine) -> None:
    answers = {"amount": 1.5, "day": "2026-03-31", "at": "2026-03-31T09:30", "gift": True, "rows": [1]}
    shown = await run(
        kernels, sample("typed.dib") + "column", parameters=answers | {"column": "column", "shade": "red"}
    )
    assert shown.value == "red"


async def test_questions_are_answered_by_parameters(kernels: Engine) -> None:
    shown = await run(kernels, sample("asks.dib"), parameters={"user": "Ann", "token": "abc"})
    assert shown.value == "Ann has a token of 3 characters"
    assert shown.outputs[-1].data["text/html"] == "<b>done</b>"


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("sales.ipynb", {}, {"north": 2024, "south": 4048}),
        ("sales.ipynb", {"year": 1, "regions": ["all"]}, {"all": 1}),
        ("report.py", {"limit": 0.8}, {"label": "all", "above": [0.9]}),
    ],
)
async def test_notebooks_of_other_forms_run_too(
    kernels: Engine, name: str, given: dict[str, object], value: object
) -> None:
    assert (await run(kernels, sample(name), file_name=name, parameters=given)).value == value


async def test_a_parameter_takes_the_place_of_the_value_in_the_code(kernels: Engine) -> None:
    assert (await run(kernels, "# parameters\nx: int = 1\n\n10 / x", parameters={"x": 4})).value == 2.5


async def test_a_kernel_that_is_not_installed_is_named(kernels: Engine) -> None:
    shown = await run(kernels, "print(1)\n#!csharp\n1+1")
    assert shown.error is not None
    assert "'csharp' is not installed" in shown.error
    assert "python" in shown.error


@pytest.mark.parametrize("line", ["#!connect mssql", "#!set --name x", "#!share --from python"])
async def test_a_magic_command_that_cannot_be_obeyed_is_no_silent_comment(kernels: Engine, line: str) -> None:
    shown = await run(kernels, f"#!python\n{line}\n1")
    if line == "#!set --name x":
        assert shown.error is None  # an empty value
    else:
        assert shown.error is not None


async def test_values_go_between_kernels_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tmp_path / "kernels" / "snake"
    spec.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Snake", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    document = (
        '#!meta\n{"kernelInfo":{"items":[{"name":"snake"}]}}\n#!python\nhere = {"é": [1, None]}\n'
        "#!snake\n#!share --from python here --as there\nthere['é'].append('x')\n"
        "#!python\n#!set --name back --value @snake:there\nback\n"
    )
    async with running_engine(tmp_path / "engine", POOL="0") as engine:
        shown = await run(engine, document)
    assert shown.error is None
    assert shown.value == {"é": [1, None, "x"]}


async def test_what_is_no_json_cannot_be_shared(kernels: Engine) -> None:
    shown = await run(kernels, "x = object()\n#!python\n#!set --name y --value @python:x")
    assert shown.error == "'x' of python cannot be shared: it is missing, or no JSON"


async def test_files_that_the_code_leaves_are_told_without_links_and_secrets(kernels: Engine) -> None:
    code = """
import os
os.mkdir('sub'); open('sub/é.csv', 'w').write('1,2'); open('.hidden', 'w').write('x')
os.symlink('/etc/passwd', 'passwd'); os.mkfifo('pipe'); os.symlink('/etc', 'etc')
open('large.bin', 'wb').write(b'x' * 2_000_000)
"""
    made = (await run(kernels, code)).made
    assert set(made) == {"sub/é.csv", "large.bin"}
    assert (made["sub/é.csv"].content, made["sub/é.csv"].media_type) == (b"1,2", "text/csv")
    assert (made["large.bin"].content, made["large.bin"].size) == (None, 2_000_000)


async def test_a_notebook_keeps_its_state_until_it_is_made_fresh(kernels: Engine, notebook: str) -> None:
    await run(kernels, "n = 1", notebook=notebook)
    assert (await run(kernels, "n += 1\nn", notebook=notebook)).value == 2
    assert (await run(kernels, "n", notebook=uuid4().hex)).error == "NameError: name 'n' is not defined"
    fresh = await run(kernels, "n", notebook=notebook, fresh=True)
    assert fresh.error == "NameError: name 'n' is not defined"


async def test_runs_of_one_notebook_wait_for_each_other(kernels: Engine, notebook: str) -> None:
    await run(kernels, "steps = []", notebook=notebook)
    code = "import time\nsteps.append('in'); time.sleep(0.2); steps.append('out')"
    await asyncio.gather(*(run(kernels, code, notebook=notebook) for _ in range(3)))
    assert (await run(kernels, "steps", notebook=notebook)).value == ["in", "out"] * 3


async def test_only_files_of_this_run_are_told(kernels: Engine, notebook: str) -> None:
    assert set((await run(kernels, "open('a', 'w').write('1')", notebook=notebook)).made) == {"a"}
    assert set((await run(kernels, "open('b', 'w').write('1')", notebook=notebook)).made) == {"b"}


async def test_a_notebook_gives_way_to_a_newer_one_unless_it_is_in_use(tmp_path: Path) -> None:
    async with running_engine(tmp_path, NOTEBOOKS="1", POOL="0") as engine:
        await run(engine, "n = 1", notebook="a")
        await run(engine, "n = 2", notebook="b")
        assert len(engine.notebooks) == 1
        async with engine.notebooks.use("b"):
            with pytest.raises(TooManyRequests):
                await run(engine, "1", notebook="c")


async def test_an_idle_notebook_ends(tmp_path: Path) -> None:
    async with running_engine(tmp_path, IDLE_MINUTES="0.01", POOL="0") as engine:
        await run(engine, "n = 1", notebook="a")
        async with asyncio.timeout(30):
            while engine.busy:
                await asyncio.sleep(0.1)


async def test_more_runs_than_may_wait_are_refused(tmp_path: Path) -> None:
    async with running_engine(tmp_path, RUNS="1", WAITING="0", POOL="0") as engine:
        started = asyncio.Event()
        request = RunRequest(id="slow", document="print(1)\nimport time; time.sleep(30)")
        first = asyncio.create_task(engine.run(request, lambda frame: started.set()))
        await started.wait()
        with pytest.raises(TooManyRequests):
            await engine.run(RunRequest(id="next", document="1"), Results().take)
        first.cancel()
        await asyncio.wait({first})
        assert (await run(engine, "1")).value == 1


async def test_output_comes_while_the_code_runs(kernels: Engine) -> None:
    shown, printed = Results(), asyncio.Event()

    def take(frame: object) -> None:
        shown.take(frame)  # type: ignore[arg-type]
        if shown.outputs:
            printed.set()

    request = RunRequest(id=uuid4().hex, document="print('first', flush=True)\nimport time; time.sleep(60)")
    running = asyncio.create_task(kernels.run(request, take))
    await printed.wait()
    assert not running.done()
    running.cancel()
    await asyncio.wait({running})


async def complete(engine: Engine, notebook: str, code: str) -> list[Completion]:
    return await engine.complete(CompleteRequest(notebook=notebook, code=code, position=len(code)))


async def test_completion_knows_what_the_notebook_ran(kernels: Engine, notebook: str) -> None:
    await run(kernels, "def greeting():\n    'Says hello.'\ngreat_value = 1", notebook=notebook)
    code = "x = 'é🎉'\ngre"
    await complete(kernels, notebook, code)  # the first one may be too slow to tell types
    found = {each.text: each for each in await complete(kernels, notebook, code)}
    assert {"greeting", "great_value"} <= set(found)
    assert found["greeting"].type == "function"
    assert "Says hello." in (found["greeting"].documentation or "")
