"""Sealing of stored secrets, derived keys, and random tokens."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.resource.secrets import MasterKey, Purpose, Secrets, SecretUnreadable
from penstock.resource.token import hash_token, new_token, token_matches, token_parts

OLD, NEW = os.urandom(32), os.urandom(32)


@given(st.binary(max_size=5000), st.text(alphabet=st.characters(codec="utf-8")))
def test_what_was_sealed_opens_for_its_owner(plain: bytes, owner: str) -> None:
    secrets = Secrets(OLD)
    assert secrets.open(secrets.seal(plain, owner), owner) == plain


def test_a_sealed_secret_does_not_show_what_is_inside() -> None:
    sealed = Secrets(OLD).seal(b"correct horse battery staple", "variables/1")
    assert b"horse" not in sealed


def test_sealing_the_same_secret_twice_gives_different_bytes() -> None:
    secrets = Secrets(OLD)
    assert secrets.seal(b"same", "a") != secrets.seal(b"same", "a")


def test_a_sealed_secret_does_not_open_for_another_owner() -> None:
    secrets = Secrets(OLD)
    with pytest.raises(SecretUnreadable, match="variables/2"):
        secrets.open(secrets.seal(b"x", "variables/1"), "variables/2")


@given(st.integers(min_value=0), st.integers(min_value=0, max_value=7))
def test_a_flipped_bit_is_noticed_wherever_it_is(place: int, bit: int) -> None:
    secrets = Secrets(OLD)
    sealed = bytearray(secrets.seal(b"some secret", "owner"))
    sealed[place % len(sealed)] ^= 1 << bit
    with pytest.raises(SecretUnreadable):
        secrets.open(bytes(sealed), "owner")


@given(st.binary(max_size=200))
def test_bytes_that_were_never_sealed_do_not_open(noise: bytes) -> None:
    with pytest.raises(SecretUnreadable):
        Secrets(OLD).open(noise, "owner")


def test_a_secret_cut_short_does_not_open() -> None:
    secrets = Secrets(OLD)
    sealed = secrets.seal(b"some secret", "owner")
    for end in range(len(sealed)):
        with pytest.raises(SecretUnreadable):
            secrets.open(sealed[:end], "owner")


def test_with_another_master_key_the_error_names_both_keys_and_shows_neither() -> None:
    old, new = Secrets(OLD), Secrets(NEW)
    with pytest.raises(SecretUnreadable) as caught:
        new.open(old.seal(b"plain text", "variables/1"), "variables/1")
    assert old.key_id in str(caught.value)
    assert new.key_id in str(caught.value)
    assert "plain text" not in str(caught.value)
    assert OLD.hex() not in str(caught.value)


def test_after_a_rotation_old_secrets_open_and_are_sealed_anew() -> None:
    sealed = Secrets(OLD).seal(b"x", "owner")
    rotated = Secrets(NEW, [OLD])
    assert rotated.open(sealed, "owner") == b"x"
    assert not rotated.is_current(sealed)
    anew = rotated.reseal(sealed, "owner")
    assert rotated.is_current(anew)
    assert Secrets(NEW).open(anew, "owner") == b"x"


def test_sealing_anew_keeps_the_owner_bound() -> None:
    sealed = Secrets(OLD).seal(b"x", "owner")
    rotated = Secrets(NEW, [OLD])
    with pytest.raises(SecretUnreadable):
        rotated.reseal(sealed, "another")


def test_a_short_master_key_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 32 bytes"):
        Secrets(os.urandom(31))


def test_each_purpose_and_each_master_key_has_its_own_key() -> None:
    keys = {Secrets(master).subkey(purpose) for master in (OLD, NEW) for purpose in Purpose}
    assert len(keys) == 2 * len(Purpose)
    assert Secrets(OLD).signing_seed == Secrets(OLD).subkey(Purpose.SIGNING)


def test_a_rotation_keeps_the_derived_keys_of_before_by_their_ids() -> None:
    rotated = Secrets(NEW, [OLD])
    assert rotated.subkeys(Purpose.TOKENS) == {
        Secrets(master).key_id: Secrets(master).subkey(Purpose.TOKENS) for master in (OLD, NEW)
    }
    assert rotated.rotated
    assert not Secrets(NEW, [NEW]).rotated


def test_no_key_is_shown_by_repr() -> None:
    shown = repr(Secrets(OLD)) + repr(MasterKey(OLD))
    assert OLD.hex() not in shown
    assert repr(OLD) not in shown
    assert not any(Secrets(OLD).subkey(purpose).hex() in shown for purpose in Purpose)


@given(st.binary(min_size=16, max_size=16))
def test_a_token_carries_its_subject(subject: bytes) -> None:
    token = new_token("pk_", subject)
    parts = token_parts("pk_", token, len(subject))
    assert parts is not None
    assert parts[0] == subject
    assert new_token("pk_", *parts) == token


@given(st.text())
def test_text_that_is_no_token_has_no_parts(text: str) -> None:
    assert token_parts("pk_", text, 16) is None
    assert token_parts("pk_", "pk_" + text, 16) is None


def test_a_token_has_one_spelling_only() -> None:
    token = new_token("pk_", bytes(17))  # 49 bytes: the last character has four bits that carry nothing
    endings = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    read = [ending for ending in endings if token_parts("pk_", token[:-1] + ending, 17)]
    assert len(read) == 4
    assert token_parts("pk_", token + "=", 17) is None


def test_tokens_match_only_their_own_hash() -> None:
    token = new_token("pk_")
    assert token_matches(token, hash_token(token))
    assert not token_matches(new_token("pk_"), hash_token(token))
