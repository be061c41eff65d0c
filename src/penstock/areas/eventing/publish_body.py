"""What a publishing request holds: CloudEvents in any form of their HTTP binding, or data that becomes one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from penstock.kernel.errors import Invalid, UnsupportedMedia
from penstock.kernel.ids import new_id
from penstock.protocol.cloudevent import JSON_MEDIA, CloudEvent, events_from_values, is_json
from penstock.protocol.cloudevent_http import data_of, events_from_http, media_of

SOURCE = "/penstock/publish"
"""Source of events that are made from plain data."""
TYPE = "penstock.data"
"""Their type."""
_FORM = "application/x-www-form-urlencoded"
_TEXT = "text/plain"


def events_of(headers: Mapping[str, str], body: bytes, now: datetime) -> list[CloudEvent]:
    """The events of a request. headers: names in lower case. now: the time of events made from plain data.

    Raises Invalid naming the attribute, UnsupportedMedia.
    """
    bound = events_from_http(headers, body)
    if bound is not None:
        return bound
    media = media_of(headers)
    if media == _FORM:  # what curl says of everything unless told otherwise
        raise UnsupportedMedia(f"say what the body is by Content-Type, such as {JSON_MEDIA}; {_FORM} is not read")
    if not body.strip():
        raise Invalid.one("", "a body is required")
    if not media or is_json(media):
        value = _json(body)
        return _from_text(value, now) if isinstance(value, str) else _from_value(value, now)
    if media == _TEXT:
        return _from_text(_utf8(body), now)
    content_type = headers["content-type"]
    return [_made(now, datacontenttype=content_type, **data_of(content_type, body))]


def _from_text(text: str, now: datetime) -> list[CloudEvent]:
    """The specification's string: an event, a batch or data, in JSON, or any other text."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return [_made(now, datacontenttype=_TEXT, data=text)]
    return _from_value(value, now)


def _from_value(value: Any, now: datetime) -> list[CloudEvent]:
    if _is_event(value):
        return [CloudEvent.from_value(value)]
    if isinstance(value, list) and any(map(_is_event, value)):
        return events_from_values(value)
    return [_made(now, datacontenttype=JSON_MEDIA, data=value)]


def _is_event(value: Any) -> bool:
    """Whether it is meant to be one; an attribute may still be missing."""
    return isinstance(value, dict) and ("specversion" in value or {"id", "source", "type"} <= value.keys())


def _made(now: datetime, **members: Any) -> CloudEvent:
    time = now.isoformat().replace("+00:00", "Z")
    return CloudEvent.from_value(
        {"specversion": "1.0", "id": str(new_id()), "source": SOURCE, "type": TYPE, "time": time} | members
    )


def _json(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid.one("", f"the body is not valid JSON: {error}") from None


def _utf8(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise Invalid.one("", "the body is not valid UTF-8") from None
