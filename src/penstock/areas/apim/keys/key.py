"""A subscription's key: made, checked, and told apart without being stored in clear."""

import hmac
import re

from penstock.areas.apim.model import MASK
from penstock.kernel.errors import FieldError
from penstock.protocol.gateway import Access
from penstock.resource.secrets import Purpose, Secrets
from penstock.resource.token import new_token

_PREFIX = "psk_"
_GIVEN = re.compile(r"[!-~]{16,256}", re.ASCII)


def new_key() -> str:
    """256 random bits, in characters that any header takes."""
    return new_token(_PREFIX)


def key_errors(key: str) -> list[FieldError]:
    """What is wrong with a key that somebody gives."""
    if key != MASK and _GIVEN.fullmatch(key):
        return []
    return [FieldError("Key", "must be 16 to 256 printable characters without blanks; leave it out to have one made")]


class KeyPrints:
    """Fingerprints of keys (HMAC-SHA256): two are equal when gateways could not tell their callers apart."""

    def __init__(self, secrets: Secrets) -> None:
        self._secret = secrets.subkey(Purpose.KEY_PRINTS)

    def of(self, type: Access, user_name: str | None, key: str) -> str:
        """user_name: of type basic, where the key is a password that others may have, too."""
        shown = "\0".join((type.value, user_name or "", key))
        return hmac.digest(self._secret, shown.encode(), "sha256").hex()
