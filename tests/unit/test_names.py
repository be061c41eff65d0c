"""Names that reach commands, subjects and paths."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import ALLOWED, check_name, name_errors, name_key

FIRST = string.ascii_letters + string.digits
REST = FIRST + "._-"
NAMES = st.builds(str.__add__, st.sampled_from(FIRST), st.text(REST, max_size=127))


@given(NAMES)
def test_letters_digits_dot_underscore_and_hyphen_make_a_name(name: str) -> None:
    assert name_errors("Name", name) == []
    assert check_name("Name", name) == name


@pytest.mark.parametrize(
    "name", ["a" * 129, ".a", "-a", "_a", "a b", "a/b", "a*", "a>", "a\n", "\u00e9", "a\x00", "\u0661"]
)
def test_anything_else_is_refused_with_what_is_allowed(name: str) -> None:
    assert name_errors("Metadata.Name", name) == [FieldError("Metadata.Name", ALLOWED)]
    with pytest.raises(Invalid) as raised:
        check_name("Metadata.Name", name)
    assert raised.value.errors == (FieldError("Metadata.Name", ALLOWED),)


@pytest.mark.parametrize("name", [None, ""])
def test_a_name_that_is_not_given_is_required(name: str | None) -> None:
    with pytest.raises(Invalid, match=r"^Name: is required$"):
        check_name("Name", name)


@given(st.text().filter(lambda text: text != ""))
def test_a_text_is_a_name_exactly_when_its_characters_are(text: str) -> None:
    fits = len(text) <= 128 and text[0] in FIRST and all(character in REST for character in text)
    assert (name_errors("Name", text) == []) == fits


@given(NAMES)
def test_names_are_compared_without_case(name: str) -> None:
    assert name_key(name.upper()) == name_key(name.lower()) == name_key(name)
