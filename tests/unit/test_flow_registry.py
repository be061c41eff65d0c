"""The one list of elements, and what is written about them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.flow.family import FOLDERS, Family
from penstock.flow.registry import Registry, registry

COMPONENT = """
from penstock.flow.component import Producer
class {name}(Producer, frozen=True):
    element = "{element}"
    path = "target"
    target: str
"""


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """An empty package `flowkit` with a folder for each family."""
    root = tmp_path / "flowkit"
    for family in FOLDERS:
        (root / FOLDERS[family]).mkdir(parents=True)
        (root / FOLDERS[family] / "__init__.py").touch()
    (root / "__init__.py").touch()
    sys.path.insert(0, str(tmp_path))
    yield root
    sys.path.remove(str(tmp_path))
    for name in [name for name in sys.modules if name.split(".")[0] == "flowkit"]:
        del sys.modules[name]


def test_the_engines_elements_are_found_by_folder() -> None:
    assert {"cron", "exec", "log", "quartz", "timer"} <= set(registry().names(Family.COMPONENT))
    assert {"log", "setBody", "setHeader", "to"} <= set(registry().names(Family.STEP))
    assert {"constant", "simple"} <= set(registry().names(Family.LANGUAGE))
    assert "json" in registry().names(Family.DATA_FORMAT)


def test_an_element_is_added_by_one_file(package: Path) -> None:
    (package / "components" / "ftp.py").write_text(COMPONENT.format(name="Ftp", element="ftp"))
    found = Registry("flowkit").find(Family.COMPONENT, "ftp")
    assert found is not None
    assert found.__name__ == "Ftp"


def test_a_name_declared_twice_stops_the_start(package: Path) -> None:
    (package / "components" / "ftp.py").write_text(COMPONENT.format(name="Ftp", element="ftp"))
    (package / "components" / "sftp.py").write_text(COMPONENT.format(name="Sftp", element="ftp"))
    with pytest.raises(TypeError, match="'ftp' is declared twice"):
        Registry("flowkit")


@pytest.mark.parametrize(
    "content", ["", COMPONENT.format(name="A", element="a") + COMPONENT.format(name="B", element="b")]
)
def test_a_file_declares_exactly_one_element(package: Path, content: str) -> None:
    (package / "components" / "odd.py").write_text(content)
    with pytest.raises(TypeError, match="exactly one"):
        Registry("flowkit")
