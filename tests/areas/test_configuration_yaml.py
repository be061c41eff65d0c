"""What the YAML and JSON of configuration documents mean."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.areas.configuration.yaml_tree import read_trees
from penstock.kernel.errors import FieldError


def values(text: str) -> tuple[list[object], list[FieldError]]:
    errors: list[FieldError] = []
    return [tree.plain() for _, tree in read_trees(text, errors)], errors


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("on", "on"),
        ("no", "no"),
        ("1:30", "1:30"),
        ("2026-01-31", "2026-01-31"),
        ("'5'", "5"),
        ("!!str 5", "5"),
        ("5", 5),
        ("010", 10),
        ("0x1F", 31),
        ("-1.5e3", -1500.0),
        ("true", True),
        ("~", None),
        ("[1, {a: b}]", [1, {"a": "b"}]),
        (".inf", ".inf"),
    ],
)
def test_scalars_follow_the_core_schema(text: str, meant: object) -> None:
    assert values(f"value: {text}") == ([{"value": meant}], [])


def test_an_alias_repeats_its_anchor() -> None:
    assert values("a: &list [1, 2]\nb: *list") == ([{"a": [1, 2], "b": [1, 2]}], [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: [", "did not find"),
        ("a: 1\n b: 2", "line 2"),
        ("a: &x [*x]", "the alias 'x' has no anchor before it"),
        ("a: *b", "the alias 'b' has no anchor before it"),
        ("? [a]\n: b", "a name must be text"),
        ("[" * 100, "is nested deeper than 64 levels"),
        ("a: !!python/object/apply:os.system [ls]", "is not allowed here"),
        ("a: !!int text", "is not allowed here"),
        ("a: " + "9" * 200, "put it in quotes"),
        ("a: 1e999", "put it in quotes"),
        ("a: \x00", "characters that YAML does not allow"),
        ("a: \ud800", "characters that YAML does not allow"),
        ("a: 1\na: 2", "line 2: is given before, in line 1"),
    ],
)
def test_what_is_no_proper_yaml_is_told(text: str, told: str) -> None:
    _, errors = values(text)
    assert len(errors) == 1
    assert told in errors[0].message


def test_aliases_cannot_multiply_without_bound() -> None:
    levels = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    _, errors = values("\n".join(levels))
    assert "more than 1000000 values" in errors[0].message


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    read, errors = values(text)
    assert isinstance(read, list)
    assert all(error.message for error in errors)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="utf-8", categories=["L", "N"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
    max_leaves=10,
)


@given(json_values)
def test_json_is_read_as_json(value: object) -> None:
    assert values(msgspec.json.encode({"value": value}).decode()) == ([{"value": value}], [])
