"""The master key, from the setting or from a file that only the owner can read."""

import os
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence

from penstock.kernel.errors import Invalid
from penstock.kernel.private_file import write_private
from penstock.server.settings import ServerSettings

_BYTES = 32
_SETTING = "PENSTOCK_SECRET_KEY"
_PREVIOUS = "PENSTOCK_SECRET_KEY_PREVIOUS"


def master_key(settings: ServerSettings) -> bytes:
    """32 bytes. Raises Invalid naming PENSTOCK_SECRET_KEY."""
    if settings.secret_key:
        return _decoded(settings.secret_key, "the setting", _SETTING)
    path = settings.folder / "secret-key"
    if not path.exists():
        # Of two starts at the same time the first one's key stays.
        write_private(path, b64encode(os.urandom(_BYTES)).decode(), replace=False)
    return _decoded(path.read_bytes(), str(path), _SETTING)


def previous_keys(settings: ServerSettings) -> Sequence[bytes]:
    """The master keys of before. Raises Invalid naming PENSTOCK_SECRET_KEY_PREVIOUS."""
    return [_decoded(text, "an entry", _PREVIOUS) for text in settings.secret_key_previous]


def _decoded(text: str | bytes, source: str, setting: str) -> bytes:
    try:
        key = b64decode(text.strip(), validate=True)
    except (Base64Error, ValueError):
        key = b""
    if len(key) != _BYTES:
        raise Invalid.one(setting, f"must be base64 of {_BYTES} bytes, which {source} is not")
    return key
