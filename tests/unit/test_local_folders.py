"""Files that configurations may use are below the allowed folders."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.egress.local_folders import LocalFolders, open_file
from penstock.kernel.errors import Forbidden

_PARTS = st.lists(st.sampled_from(["..", ".", "", "a", "b", "link", "~", "x/../..", "\\..\\"]), max_size=8)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An allowed folder with one inside, and a link out of it."""
    base = tmp_path_factory.mktemp("folders")
    root = base / "allowed"
    (root / "a").mkdir(parents=True)
    (base / "other").mkdir()
    (root / "link").symlink_to(base / "other")
    (root / "a" / "link").symlink_to(base / "other")
    return root


@given(_PARTS)
def test_no_path_leads_out_of_the_allowed_folders(root: Path, parts: list[str]) -> None:
    with suppress(Forbidden):
        assert LocalFolders([root]).check("/".join(parts)).resolve().is_relative_to(root)


@given(_PARTS)
def test_no_name_leads_out_of_its_folder_though_it_may_be_a_link_itself(root: Path, parts: list[str]) -> None:
    folders = LocalFolders([root])
    with suppress(Forbidden):
        assert folders.within(folders.check("a"), "/".join(parts)).parent.resolve().is_relative_to(root / "a")


def test_a_relative_path_is_below_the_first_folder(root: Path, tmp_path: Path) -> None:
    assert LocalFolders([root, tmp_path]).check("a/b") == root / "a" / "b"
    assert LocalFolders([root, tmp_path]).check(tmp_path / "c") == tmp_path / "c"


@pytest.mark.parametrize("path", ["..", "../other", "link", "link/x", "/etc/passwd", "a/../../other", "a\0b"])
def test_paths_outside_are_refused(root: Path, path: str) -> None:
    with pytest.raises(Forbidden, match="PENSTOCK_AGENT_LOCAL_FOLDERS"):
        LocalFolders([root]).check(path)


def test_without_folders_everything_is_refused(root: Path) -> None:
    with pytest.raises(Forbidden):
        LocalFolders([]).check(root)


def test_a_link_is_not_opened(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "innocent").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        open_file(tmp_path / "innocent")
