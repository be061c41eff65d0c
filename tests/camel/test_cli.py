"""`penstock engine` installs and lists engines."""

from pathlib import Path

import pytest

from penstock.cli.main import run
from penstock.flow.camel.installation import CamelInstallation
from penstock.flow.camel.release import VERSION


@pytest.fixture
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("PENSTOCK_AGENT_ENGINE_FOLDER", "PENSTOCK_AGENT_FOLDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PENSTOCK_DATA", str(tmp_path))
    return tmp_path


def test_the_list_names_the_native_engine_and_how_to_install_camel(
    own_environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["engine", "list"]) == 0
    told = capsys.readouterr().out
    assert "native, part of every agent" in told
    assert f"camel {VERSION}\tnot in {own_environment}/engines; install it with `penstock engine install camel`" in told


@pytest.mark.parametrize(
    ("variable", "folder"),
    [("PENSTOCK_AGENT_ENGINE_FOLDER", "."), ("PENSTOCK_AGENT_FOLDER", "engines"), ("PENSTOCK_DATA", "engines")],
)
def test_engines_are_looked_for_where_agents_do(
    variable: str,
    folder: str,
    own_environment: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(variable, str(own_environment / "here"))
    installation = CamelInstallation.in_folder(own_environment / "here" / folder)
    installation.folder.mkdir(parents=True)
    installation.finish()
    assert run(["engine", "list"]) == 0
    assert f"camel {VERSION}\t{installation.folder}\n" in capsys.readouterr().out
    assert run(["engine", "install", "camel"]) == 0
    assert "is installed already" in capsys.readouterr().out


def test_an_installation_that_fails_says_what_to_do(own_environment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["engine", "install", "camel", "--mirror", "http://127.0.0.1:9/maven"]) == 1
    told = capsys.readouterr().err
    assert "127.0.0.1 cannot be reached" in told
    assert "--mirror" in told
    assert run(["engine", "install", "mule"]) == 2
