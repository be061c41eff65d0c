"""Which files a flow takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.files.file_filter import AntPatterns, FileFilter, NamePattern

_NAME = st.text(st.characters(categories=["L", "N"], include_characters="-_ "), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.txt", "a.txt", True),
        ("*.txt", "in/a.txt", False),
        ("**/*.txt", "a.txt", True),
        ("**/*.txt", "in/deep/a.txt", True),
        ("in/**", "in/deep/a.txt", True),
        ("in/**", "out/a.txt", False),
        ("in/*/a.txt", "in/x/a.txt", True),
        ("in/*/a.txt", "in/x/y/a.txt", False),
        ("a?.txt", "ab.txt", True),
        ("a?.txt", "a/.txt", False),
        ("a.csv, b.csv", "b.csv", True),
        ("a+(b).txt", "a+(b).txt", True),
    ],
)
def test_patterns_are_those_of_ant(pattern: str, path: str, matches: bool) -> None:
    assert AntPatterns.parse(pattern).match(path) is matches


@given(st.lists(_NAME, min_size=1, max_size=4))
def test_two_stars_stand_for_any_path_and_one_for_any_name(names: list[str]) -> None:
    path = "/".join(names)
    assert AntPatterns.parse("**").match(path)
    assert AntPatterns.parse("/".join("*" for _ in names)).match(path)
    assert not AntPatterns.parse("/".join("*" for _ in [*names, "x"])).match(path)


def test_names_are_compared_whole_and_without_case() -> None:
    wanted = FileFilter(include=NamePattern.parse(r"a.*\.txt"))
    assert [name for name in ("ab.txt", "AB.TXT", "xa.txt", "ab.txt.old") if wanted.takes(name)] == ["ab.txt", "AB.TXT"]


def test_hidden_files_and_locks_are_never_taken() -> None:
    assert not any(FileFilter().takes(name) for name in (".a", "in/.a", "a.camelLock"))


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="must be a regular expression"):
        NamePattern.parse("a(")
