"""Kernels of other languages than Python, by the example of bash: they run, fail, share and are kept apart the same."""

import json
import sys
from pathlib import Path

import pytest

from penstock.engine.engine import Engine
from penstock.engine.languages import installed
from tests.conformance.kernels import run, running_engine


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


async def test_other_languages_are_kept_apart_as_python_is(kernels: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    if not kernels.isolation.has_view:
        pytest.skip("there is no bubblewrap")
    here = Path(__file__)
    shown = await run(kernels, f"#!bash\ncat {here}; env | grep -c PENSTOCK_URL; ls ~; ls -d /home/* /root/*; true")
    assert f"{here}: No such file" in shown.text
    assert shown.error is None


async def test_an_endless_loop_of_another_language_is_ended(tmp_path: Path) -> None:
    async with running_engine(tmp_path, RUN_SECONDS="2") as engine:
        shown = await run(engine, "#!bash\nwhile true; do :; done")
    assert shown.error == "the run took longer than 2 s"


async def test_a_kernel_that_is_not_installed_is_named_with_those_that_are(kernels: Engine) -> None:
    for name in ("julia", "c#"):
        shown = await run(kernels, f"#!{name}\n1 + 1")
        assert shown.error is not None
        assert shown.error.startswith(
            f"the kernel '{'csharp' if name == 'c#' else name}' is not installed; installed: "
        )
        assert "bash" in shown.error


def test_kernels_in_the_environment_of_the_scripts_python_are_found(tmp_path: Path) -> None:
    specification = tmp_path / "share/jupyter/kernels/mine/kernel.json"
    specification.parent.mkdir(parents=True)
    specification.write_text('{"argv": ["sh", "-c", "{connection_file}"], "display_name": "Mine", "language": "Own"}')
    found = installed(str(tmp_path / "bin/python"))
    assert found["own"] is found["mine"]
    assert found["mine"].argv == ("/usr/bin/sh", "-c", "{connection_file}")
    assert "mine" not in installed(sys.executable)
