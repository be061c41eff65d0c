"""Kernels of other languages than Python, by the example of bash: they run, fail, share and are kept apart the same."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.engine.engine import Engine
from penstock.engine.languages import installed
from tests.conformance.kernels import run, running_engine

BASH = [sys.executable, "-m", "bash_kernel", "-f", "{connection_file}"]


@pytest.fixture(scope="module")
async def kernels(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Engine]:
    """An engine with a kernel of bash, besides Python's."""
    folder = tmp_path_factory.mktemp("jupyter")
    specify(folder / "kernels/bash", BASH, "bash")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JUPYTER_PATH", str(folder))
        async with running_engine(tmp_path_factory.mktemp("engine")) as engine:
            yield engine


def specify(folder: Path, argv: list[str], language: str) -> None:
    folder.mkdir(parents=True)
    written = json.dumps({"argv": argv, "display_name": language.title(), "language": language})
    (folder / "kernel.json").write_text(written)


async def test_cells_of_another_language_run_in_its_kernel(kernels: Engine) -> None:
    shown = await run(kernels, '#!bash\nname=world\n#!bash\necho "hello $name"')
    assert (shown.text, shown.error) == ("hello world\n", None)


async def test_a_command_that_fails_ends_the_run(kernels: Engine) -> None:
    shown = await run(kernels, "#!bash\necho before; (exit 5)\n#!bash\necho never")
    assert shown.error == "Error: 5"
    assert [output.data["text/plain"] for output in shown.outputs] == ["before\n", "before\nError: 5"]


async def test_values_go_between_languages_as_json(kernels: Engine) -> None:
    document = (
        "#!python\nrows = [1, {'name': \"Ann's\"}]\n"
        "#!bash\n#!share --from python rows\nwords='two  words'\nnumber=7\nprintf %s \"$rows\" > rows.json\n"
        "#!python\n#!share --from bash rows --as again\n#!set --name words --value @bash:words\n"
        "#!share --from bash number\n[again == rows, words, number]"
    )
    shown = await run(kernels, document)
    assert shown.value == [True, "two  words", 7]
    assert json.loads(shown.made["rows.json"].content or b"") == [1, {"name": "Ann's"}]


async def test_parameters_reach_another_language_when_it_asks_for_them(kernels: Engine) -> None:
    document = '#!value --name city --from-value Bern\n#!bash\n#!share --from value city\necho "in $city"'
    assert (await run(kernels, document, parameters={"city": "Oslo"})).text == 'in "Oslo"\n'


async def test_other_languages_are_kept_apart_as_python_is(kernels: Engine) -> None:
    if not kernels.isolation.has_view:
        pytest.skip("there is no bubblewrap")
    here = Path(__file__)
    shown = await run(kernels, f"#!bash\ncat {here}; ls ~; ls /home; (echo > /dev/tcp/127.0.0.1/22); true")
    assert f"{here}: No such file" in shown.text
    assert "/home'" in shown.text
    assert "/dev/tcp/127.0.0.1/22: Connection refused" in shown.text
    assert shown.error is None


async def test_an_endless_loop_of_another_language_is_ended(kernels: Engine) -> None:
    shown = await run(kernels, "#!bash\nwhile true; do :; done", seconds=2)
    assert shown.error == "the run took longer than 2 s"


async def test_a_kernel_that_is_not_installed_is_named_with_those_that_are(kernels: Engine) -> None:
    for mark, name in (("julia", "julia"), ("c#", "csharp")):
        shown = await run(kernels, f"#!{mark}\n1 + 1")
        assert shown.error is not None
        assert shown.error.startswith(f"the kernel '{name}' is not installed; installed: bash")


def test_kernels_in_the_environment_of_the_scripts_python_are_found(tmp_path: Path) -> None:
    specify(tmp_path / "share/jupyter/kernels/mine", ["sh", "-c", "{connection_file}"], "own")
    found = installed(str(tmp_path / "bin/python"))
    assert found["own"] is found["mine"]
    argv = found["mine"].argv or ()
    assert (Path(argv[0]).name, argv[0][0], argv[1:]) == ("sh", "/", ("-c", "{connection_file}"))
    assert "mine" not in installed(sys.executable)


def test_a_specification_that_cannot_be_read_hides_no_other_kernel(tmp_path: Path) -> None:
    specify(tmp_path / "share/jupyter/kernels/good", ["sh"], "good")
    for name, content in (("broken", "{"), ("empty", '{"argv": [], "display_name": "", "language": ""}')):
        specify(tmp_path / "share/jupyter/kernels" / name, ["sh"], name)
        (tmp_path / "share/jupyter/kernels" / name / "kernel.json").write_text(content)
    found = installed(str(tmp_path / "bin/python"))
    assert "good" in found
    assert not {"broken", "empty"} & found.keys()
