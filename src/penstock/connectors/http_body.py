"""The body of a message as the data of an event."""

import re
from typing import Any

import msgspec

from penstock.protocol.cloudevent import is_json

BINARY = "application/octet-stream"
_TEXT = re.compile(r"text/.+|.+[/+](?:xml|yaml)|application/x-www-form-urlencoded")


def body_of(content_type: str, body: bytes) -> tuple[str, Any]:
    """Media type and data: a JSON value, text, or bytes. content_type: empty when the message does not say."""
    media = content_type.strip() or BINARY
    if content_type and is_json(media):
        try:
            return media, msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return BINARY, body  # it is not what it says
    if _TEXT.fullmatch(media.partition(";")[0].strip().lower()):
        try:
            return media, body.decode()
        except UnicodeDecodeError:
            return media, body
    return media, body


def guessed(body: bytes) -> tuple[str, Any]:
    """The same for a message that does not say what it is."""
    try:
        return "application/json", msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return "text/plain", body.decode()
    except UnicodeDecodeError:
        return BINARY, body
