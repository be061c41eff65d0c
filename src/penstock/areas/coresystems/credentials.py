"""Which variables of a core system are secret, and keeping those apart from the rest."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from penstock.connectors.reference import is_reference
from penstock.kernel.errors import FieldError, Invalid

MASK = "********"

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_WORDS = frozenset(
    (
        *("auth", "authorization", "credential", "credentials", "key", "pass", "passphrase", "passwd", "password"),
        *("pem", "pin", "pwd", "sas", "secret", "token"),
    )
)
_SECRET_PARTS = ("password", "passphrase", "secret", "token", "credential", "apikey", "accesskey", "connectionstring")
_PASSWORD_IN_ADDRESS = re.compile(r"://[^/\s@:]*:[^/\s@]+@")
_KEEPS = "is a mask, which keeps the secret only while Type and the other variables stay: give the secret"


def is_secret(name: str, value: Any, declared: Collection[str]) -> bool:
    """Whether the value must not be shown: its name says so, or it is an address with a password in it.

    declared: names that are secret whatever they look like. What is made of `{{var:NAME}}` alone gives nothing away.
    """
    if isinstance(value, bool) or value in (None, "") or (isinstance(value, str) and is_reference(value)):
        return False
    if name in declared or _looks_secret(name):
        return True
    return isinstance(value, str) and _PASSWORD_IN_ADDRESS.search(value) is not None


def parted(variables: Mapping[str, Any], declared: Collection[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The variables with their secrets masked, and the secrets."""
    secrets = {name: value for name, value in variables.items() if is_secret(name, value, declared)}
    return {name: MASK if name in secrets else value for name, value in variables.items()}, secrets


def unmasked(
    wanted: Mapping[str, Any], before: Mapping[str, Any], secrets: Mapping[str, Any], *, same_type: bool
) -> dict[str, Any]:
    """The variables with kept secrets in place of their masks. before: what is stored, masked.

    Raises Invalid for a mask that stands for no secret, or while anything else changes: whoever may change where a
    secret goes could have it sent to themselves.
    """
    masks = [name for name, value in wanted.items() if value == MASK]
    whole = {name: secrets.get(name, MASK) if value == MASK else value for name, value in wanted.items()}
    # An address with a password in it is a secret, too: nothing may change beside a mask, secret or not.
    stays = same_type and whole == {**before, **secrets}
    refused = [name for name in masks if name not in secrets or not stays]
    if refused:
        raise Invalid(FieldError(f"Variables.{name}", _KEEPS) for name in refused)
    return whole


def _looks_secret(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    if "public" in words:
        return False
    joined = "".join(words)
    return not _SECRET_WORDS.isdisjoint(words) or any(part in joined for part in _SECRET_PARTS)
