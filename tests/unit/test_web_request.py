"""What a request to a route gives a script for its parameters."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.areas.triggers.web_request import WebRequest, parameters_of
from penstock.kernel.errors import Invalid
from penstock.kernel.ids import new_id
from penstock.resource.ports.scripts import DeclaredParameter, KnownScript

TYPES = ("string", "integer", "number", "boolean", "array", "object", "any")


def values(
    query: bytes = b"", body: bytes = b"", media: str = "", fixed: tuple[str, ...] = (), /, **types: str
) -> object:
    """The parameters that a script with these types gets."""
    script = KnownScript(new_id(), "s", [DeclaredParameter(name, type, False) for name, type in types.items()])
    given = parameters_of(WebRequest("POST", query, media, body), script, fixed)
    return {each.name: msgspec.json.decode(each.value_json or "null") for each in given}


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        ("5", "string", "5"),
        ("20260331", "date", "20260331"),
        ("5", "integer", 5),
        ("true", "boolean", True),
        ("many", "integer", "many"),  # refused later, by its type
        ("007", "any", "007"),
        ("a", "array", ["a"]),
        ("[1,2]", "array", [1, 2]),
        ("%7B%22a%22:1%7D", "object", {"a": 1}),
    ],
)
def test_texts_of_the_query_become_what_the_parameter_is(text: str, type: str, expected: object) -> None:
    assert values(f"x={text}".encode(), x=type) == {"x": expected}


def test_a_text_that_comes_more_than_once_is_an_array_or_the_last_one() -> None:
    assert values(b"x=1&x=b", x="array") == {"x": [1, "b"]}
    assert values(b"x=1&x=b", x="string") == {"x": "b"}


def test_fields_of_the_body_come_before_those_of_the_query() -> None:
    assert values(b"x=1&y=2", b'{"x": 3, "z": 4}', "application/json", x="any", y="any") == {"x": 3, "y": 2}


def test_what_is_fixed_or_no_parameter_is_left_out() -> None:
    assert values(b"x=1&y=2&z=3", b"", "", ("x",), x="any", y="any") == {"y": 2}


def test_a_field_called_body_is_meant_before_the_whole_body() -> None:
    assert values(b"", b'{"body": 1}', "application/json", body="any") == {"body": 1}
    assert values(b"", b'{"other": 1}', "application/json", body="any") == {"body": {"other": 1}}


def test_more_fields_than_anybody_needs_are_refused() -> None:
    with pytest.raises(Invalid):
        values(b"&".join(b"x=1" for _ in range(1001)), x="any")


@given(st.binary(max_size=60), st.binary(max_size=60), st.sampled_from(["", "application/json", "text/plain", "x/y"]))
def test_whatever_comes_becomes_values_that_are_json(query: bytes, body: bytes, media: str) -> None:
    found = values(query, body, media, body="any", method="string", a="array")
    assert isinstance(found, dict)
    assert found["method"] == "POST"
