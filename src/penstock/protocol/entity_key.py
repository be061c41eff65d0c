"""Entities in their key-value bucket: the key that a type and an id make, and back.

`device` and `lamp-1` are the key `device.lamp-1`. What a key cannot hold is written as `=` and two hexadecimal
digits per byte of its UTF-8: `a.b` is `a=2Eb`. NATS' own tools can read such keys, and no two entities share one.
"""

import re

from penstock.kernel.errors import FieldError, Invalid

BUCKET = "entities"
HISTORY = 10
"""Values kept per entity."""

LONGEST_TYPE = 256
LONGEST_ID = 1024
"""In bytes as written in the key; a subject of the bus has to be shorter than 4 KiB."""

_OTHER = re.compile(rb"[^-/_A-Za-z0-9]")
_ESCAPED = re.compile(rb"=([0-9A-F]{2})")


def entity_key(type: str, id: str, fields: tuple[str, str] = ("entityType", "entityId")) -> str:
    """The key of an entity. Raises Invalid naming the fields that are empty, too long, or no Unicode text."""
    errors: list[FieldError] = []
    tokens = [_checked(fields[0], type, LONGEST_TYPE, errors), _checked(fields[1], id, LONGEST_ID, errors)]
    if errors:
        raise Invalid(errors)
    return ".".join(tokens)


def key_token(text: str) -> str:
    """A type or an id as its part of the key. Raises UnicodeEncodeError for lone surrogates."""
    return _OTHER.sub(lambda match: b"=%02X" % ord(match[0]), text.encode()).decode()


def entity_of(key: str) -> tuple[str, str] | None:
    """The type and id that made a key; None for a key that others wrote in another form."""
    tokens = [_text_of(token) for token in key.split(".")]
    if len(tokens) != 2 or tokens[0] is None or tokens[1] is None:
        return None
    return tokens[0], tokens[1]


def _checked(field: str, text: str, longest: int, errors: list[FieldError]) -> str:
    if not text:
        errors.append(FieldError(field, "is required"))
        return ""
    try:
        token = key_token(text)
    except UnicodeEncodeError:
        errors.append(FieldError(field, "must not contain lone surrogate characters"))
        return ""
    if len(token) > longest:
        errors.append(
            FieldError(field, f"must have at most {longest} bytes; all but A-Z a-z 0-9 - / _ counts threefold")
        )
    return token


def _text_of(token: str) -> str | None:
    raw = _ESCAPED.sub(lambda match: bytes([int(match[1], 16)]), token.encode())
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    return text if text and key_token(text) == token else None
