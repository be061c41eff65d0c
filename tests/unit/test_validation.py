"""Decoding input: all bad fields at once, null as omitted, times in UTC."""

import string
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Annotated, Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.duration import Duration
from penstock.kernel.errors import Invalid
from penstock.kernel.validation import decode_json, from_builtins, read_leniently
from penstock.kernel.wire import Int32, Map, Wire, encode


class Level(IntEnum):
    LOW = 0
    HIGH = 1


class Leaf(Wire):
    name: str | None = None
    weight: Int32 = 0
    seen: datetime | None = None


class Tree(Wire):
    id: UUID
    leaves: list[Leaf] | None = None
    best: Leaf | None = None
    level: Level = Level.LOW
    pause: Duration | None = None
    labels: list[str] | None = None
    extra: Map | None = None
    is_tall: bool = False


ID = "0190f6a0-0000-7000-8000-000000000000"


def problems(document: Any, wanted: Any = Tree) -> dict[str, str]:
    body = document if isinstance(document, bytes) else msgspec.json.encode(document)
    with pytest.raises(Invalid) as caught:
        decode_json(body, wanted)
    return {error.field: error.message for error in caught.value.errors}


class Ring(Wire):
    stones: Annotated[list[Annotated[int, msgspec.Meta(le=9)]], msgspec.Meta(max_length=2)]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"Stones": [1, 2, 3]}', {"Stones": "must have at most 2 items"}),
        (b'{"Stones": [1, 10]}', {"Stones[1]": "must be at most 9"}),
    ],
)
def test_arrays_keep_their_bounds_and_those_of_their_items(body: bytes, told: dict[str, str]) -> None:
    assert problems(body, Ring) == told


def test_very_many_bad_fields_are_told_in_part() -> None:
    with pytest.raises(Invalid) as caught:
        from_builtins({f"Field{number}": 1 for number in range(5000)}, Leaf)
    assert len(caught.value.errors) == 1000
    assert caught.value.detail.endswith("and 980 more")


def test_what_is_right_is_read_beside_what_is_wrong() -> None:
    tree, errors = read_leniently({"Level": 1, "Labels": ["a", 2], "Best": {"Weight": "x", "Name": "b"}, "Q": 1}, Tree)
    assert tree is None  # nothing can stand in for an id
    assert [error.field for error in errors] == ["Q", "Id", "Best.Weight", "Labels[1]"]
    tree, _ = read_leniently({"Id": ID, "Level": 1, "Labels": ["a", 2], "Best": {"Weight": "x", "Name": "b"}}, Tree)
    assert tree == Tree(id=UUID(ID), level=Level.HIGH, labels=["a", ""], best=Leaf(name="b"))


def test_every_bad_field_is_named_with_its_path() -> None:
    found = problems(
        {
            "Id": "no-guid",
            "Leaves": [{"Name": "a"}, {"Weight": 3_000_000_000, "Colour": "red"}],
            "Best": {"Seen": "yesterday"},
            "Level": 7,
            "Pause": "soon",
            "Labels": ["a", 2],
            "Height": 3,
        }
    )
    assert set(found) == {
        "Id",
        "Leaves[1].Weight",
        "Leaves[1].Colour",
        "Best.Seen",
        "Level",
        "Pause",
        "Labels[1]",
        "Height",
    }
    assert found["Height"] == "is not a known field"
    assert "ISO 8601" in found["Best.Seen"]
    assert "duration" in found["Pause"]


def test_a_required_field_is_missed_whether_omitted_or_null() -> None:
    assert problems({}) == {"Id": "is required"}
    assert problems({"Id": None}) == {"Id": "is required"}


def test_null_means_omitted_everywhere() -> None:
    tree = decode_json(msgspec.json.encode({"Id": ID, "IsTall": None, "Level": None, "Leaves": None}), Tree)
    assert (tree.is_tall, tree.level, tree.leaves) == (False, Level.LOW, None)


def test_names_are_case_sensitive() -> None:
    assert problems({"id": ID}) == {"id": "is not a known field", "Id": "is required"}


@pytest.mark.parametrize("body", [b"", b"{", b"[", b"[" * 100_000, b'"\xff"', b'{"Id":"\\ud800"}', b"{} {}"])
def test_what_is_no_json_is_refused_in_words(body: bytes) -> None:
    assert "not valid JSON" in problems(body)[""]


@pytest.mark.parametrize(("body", "kind"), [(b"[]", "an array"), (b"3", "a number"), (b'"x"', "a string")])
def test_another_kind_of_value_is_told(body: bytes, kind: str) -> None:
    assert problems(body) == {"": f"must be an object, not {kind}"}


@pytest.mark.parametrize(
    ("text", "hour"),
    [("2026-03-01T10:00:00Z", 10), ("2026-03-01T10:00:00", 10), ("2026-03-01T10:00:00+02:00", 8), ("2026-03-01", 0)],
)
def test_times_come_out_in_utc(text: str, hour: int) -> None:
    tree = decode_json(msgspec.json.encode({"Id": ID, "Leaves": [{"Seen": text}], "Best": {"Seen": text}}), Tree)
    expected = datetime(2026, 3, 1, hour, tzinfo=UTC)
    assert tree.leaves is not None
    assert tree.best is not None
    assert tree.leaves[0].seen == tree.best.seen == expected
    assert encode(tree.best.seen).endswith(b'Z"')


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-01:00"])
def test_a_time_that_the_calendar_has_not_in_utc_is_refused(text: str) -> None:
    expected = "must be an ISO 8601 date-time like '2026-01-31T08:30:00Z'"
    assert problems({"Id": ID, "Leaves": [{"Seen": text}]}) == {"Leaves[0].Seen": expected}


def test_maps_are_never_recased() -> None:
    tree = decode_json(msgspec.json.encode({"Id": ID, "Extra": {"snake_case": {"Inner": 1}}}), Tree)
    assert b'"Extra":{"snake_case":{"Inner":1}}' in encode(tree)


leaves = st.builds(
    Leaf,
    name=st.none() | st.text(st.characters(codec="utf-8"), max_size=20),
    weight=st.integers(-(2**31), 2**31 - 1),
    seen=st.none() | st.datetimes(timezones=st.just(UTC)),
)
trees = st.builds(
    Tree,
    id=st.uuids(),
    leaves=st.none() | st.lists(leaves, max_size=3),
    best=st.none() | leaves,
    level=st.sampled_from(Level),
    pause=st.none() | st.timedeltas(timedelta(days=-999), timedelta(days=999)).map(Duration.of),
    labels=st.none() | st.lists(st.text(string.printable, max_size=5), max_size=3),
    is_tall=st.booleans(),
)


@given(trees)
def test_what_is_encoded_decodes_to_the_same(tree: Tree) -> None:
    assert decode_json(encode(tree), Tree) == tree
    assert from_builtins(msgspec.json.decode(encode(tree)), Tree) == tree


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*Tree.__struct_encode_fields__, "Name", "Weight", "x"]), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_either_taken_or_refused_with_fields(value: Any) -> None:
    tree, errors = None, ()
    try:
        tree = decode_json(msgspec.json.encode(value), Tree)
    except Invalid as error:
        errors = error.errors
    assert isinstance(tree, Tree) != bool(errors)
