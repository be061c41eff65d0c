"""Arguments, exit values and periods as options write them."""

from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.commands.arguments import Arguments
from penstock.flow.commands.exit_values import ExitValues
from penstock.flow.period import Period

word = st.text(st.characters(codec="utf-8", exclude_characters='" {\\'), min_size=1).filter(lambda w: w == w.strip())
phrase = st.text(st.characters(codec="utf-8", exclude_characters='"{\\'), min_size=1)


def texts(arguments: Arguments) -> list[str | None]:
    return [argument.literal for argument in arguments]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", []),
        ("-l  -a", ["-l", "-a"]),
        ('"arg 1" arg2', ["arg 1", "arg2"]),
        ('""arg 1"" arg2', ['"arg 1"', "arg2"]),
        ('--name="a b"', ["--name=", "a b"]),
        ("it's", ["it's"]),
    ],
)
def test_a_line_is_split_as_camels_exec_does(line: str, expected: list[str]) -> None:
    assert texts(Arguments.parse(line)) == expected


@pytest.mark.parametrize("line", ['"open', 'a "b', '""half"', '""', '"""'])
def test_a_quote_without_counterpart_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="quote"):
        Arguments.parse(line)


@given(st.lists(st.one_of(word, phrase.map(lambda p: f'"{p}"'), phrase.map(lambda p: f'""{p}""'))))
def test_words_and_quoted_phrases_come_back(written: list[str]) -> None:
    def meant(token: str) -> str:
        return token[1:-1] if token.startswith('"') else token

    assert texts(Arguments.parse(" ".join(written))) == [meant(token) for token in written]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="{"))))
def test_a_list_is_taken_exactly(arguments: list[str]) -> None:
    assert texts(Arguments.parse_all(arguments)) == arguments


@pytest.mark.parametrize(("text", "values"), [("0", {0}), ("0, 3,-9", {0, 3, -9}), ("", set())])
def test_exit_values_are_numbers_with_commas(text: str, values: set[int]) -> None:
    assert ExitValues.parse(text) == values


@pytest.mark.parametrize("text", ["a", "1;2", "1,", "1000"])
def test_other_exit_values_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="0,3"):
        ExitValues.parse(text)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("1500", timedelta(milliseconds=1500)),
        ("-1", timedelta(milliseconds=-1)),
        ("0", timedelta()),
        ("5s", timedelta(seconds=5)),
        ("250ms", timedelta(milliseconds=250)),
        ("1h30m", timedelta(minutes=90)),
        ("2m5ms", timedelta(minutes=2, milliseconds=5)),
        ("1d2h3m4s5ms", timedelta(days=1, hours=2, minutes=3, seconds=4, milliseconds=5)),
    ],
)
def test_a_period_is_milliseconds_or_has_units(text: str, length: timedelta) -> None:
    assert Period.parse(text) == length


@pytest.mark.parametrize("text", ["", "5 s", "s", "1x", "1s1m", "1.5s", "٣", "999999999999999"])
def test_other_periods_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="1h30m"):
        Period.parse(text)


@given(st.text())
def test_any_text_is_a_period_or_a_value_error(text: str) -> None:
    with suppress(ValueError):
        assert isinstance(Period.parse(text), timedelta)
