"""Keys of entities in their bucket."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.errors import Invalid
from penstock.protocol.entity_key import LONGEST_ID, LONGEST_TYPE, entity_key, entity_of

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(names, names)
def test_a_key_is_taken_by_the_bus_and_gives_back_what_made_it(type: str, id: str) -> None:
    key = entity_key(type, id)
    assert re.fullmatch(r"[-/_=A-Za-z0-9]+\.[-/_=A-Za-z0-9]+", key)
    assert entity_of(key) == (type, id)


def test_common_names_stay_readable() -> None:
    assert entity_key("device", "hall/lamp-1") == "device.hall/lamp-1"
    assert entity_key("a.b", "x=1 ä") == "a=2Eb.x=3D1=20=C3=A4"


@pytest.mark.parametrize("key", ["one", "a.b.c", ".a", "a.=zz", "a.=2", "a.=FF", "a.=41", "a.=2e", ""])
def test_a_key_in_another_form_is_no_entitys(key: str) -> None:
    assert entity_of(key) is None


def test_every_bad_part_is_named() -> None:
    with pytest.raises(Invalid) as refusal:
        entity_key("", "\ud800")
    assert [error.field for error in refusal.value.errors] == ["entityType", "entityId"]


def test_what_is_too_long_in_the_key_is_refused() -> None:
    assert entity_key("t" * LONGEST_TYPE, "i" * LONGEST_ID)
    with pytest.raises(Invalid):
        entity_key("t" * (LONGEST_TYPE + 1), "i")
    with pytest.raises(Invalid):
        entity_key("t", "." * (LONGEST_ID // 3 + 1))
