"""NATS keys against a pair from the NATS documentation, and by round trips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.bus.nkeys import NKey, NKeyRole

SEED = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
PUBLIC = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"


def test_a_documented_seed_has_the_documented_public_key() -> None:
    key = NKey.from_seed(SEED)
    assert (key.role, key.public, key.seed) == (NKeyRole.USER, PUBLIC, SEED)


@given(st.sampled_from(NKeyRole))
def test_a_generated_key_reads_back_from_its_seed(role: NKeyRole) -> None:
    key = NKey.generate(role)
    again = NKey.from_seed(key.seed)
    assert (again.role, again.public) == (role, key.public)
    assert key.public[0] == role.name[0]
    assert key.seed[:2] == "S" + role.name[0]


@given(st.integers(0, len(SEED) - 1), st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"))
def test_a_seed_with_a_changed_letter_is_refused_without_being_shown(place: int, letter: str) -> None:
    damaged = SEED[:place] + letter + SEED[place + 1 :]
    if damaged == SEED:
        return
    with pytest.raises(ValueError, match="NATS") as refused:
        NKey.from_seed(damaged)
    assert damaged not in str(refused.value)


@given(st.text(max_size=80))
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="NATS"):
        NKey.from_seed(text)


def test_a_keys_repr_does_not_show_its_seed() -> None:
    assert SEED not in repr(NKey.from_seed(SEED))
