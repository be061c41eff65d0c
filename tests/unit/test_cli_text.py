"""What others wrote, shown in a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.column import Column
from penstock.cli.failure import explain
from penstock.cli.text import visible
from penstock.kernel.errors import NotFound

CLEAR_SCREEN = "\x1b[2J"


def test_control_characters_are_spelt_out() -> None:
    assert visible(f"a{CLEAR_SCREEN}b\x07\rc\u202ed") == "a\\x1b[2Jb\\x07\\rc\\u202ed"


def test_lines_and_tabs_stay() -> None:
    assert visible("a\tb\nc\r\nd é 💩") == "a\tb\nc\nd é 💩"


@given(st.text())
def test_nothing_that_a_terminal_would_obey_is_left(text: str) -> None:
    assert all(each in "\n\t" or (ord(each) >= 0x20 and not 0x7F <= ord(each) < 0xA0) for each in visible(text))


def test_tables_and_errors_show_it_so() -> None:
    assert Column("BODY", "Body").text({"Body": CLEAR_SCREEN}) == "\\x1b[2J"
    assert CLEAR_SCREEN not in explain(NotFound(CLEAR_SCREEN))
