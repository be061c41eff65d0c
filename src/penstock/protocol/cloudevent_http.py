"""Reading CloudEvents from HTTP requests: the structured, batched and binary mode of the HTTP protocol binding 1.0."""

import base64
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec

from penstock.kernel.errors import Invalid, UnsupportedMedia
from penstock.protocol.cloudevent import BATCH_MEDIA, EVENT_MEDIA, CloudEvent, events_from_batch, is_json

_PREFIX = "ce-"
_FAMILY = "application/cloudevents"


def media_of(headers: Mapping[str, str]) -> str:
    """The media type of a request without its parameters, in lower case; empty without one."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def events_from_http(headers: Mapping[str, str], body: bytes) -> list[CloudEvent] | None:
    """The events of a request, None when it is not one of the binding. headers: names in lower case.

    Raises Invalid naming the attribute, UnsupportedMedia for event formats other than JSON.
    """
    media = media_of(headers)
    if media == EVENT_MEDIA:
        return [CloudEvent.from_json(body)]
    if media == BATCH_MEDIA:
        return events_from_batch(body)
    if media.startswith(_FAMILY):
        raise UnsupportedMedia(f"events are read as {EVENT_MEDIA} or {BATCH_MEDIA}, not {media}")
    if any(name.startswith(_PREFIX) for name in headers):
        return [_binary(headers, body)]
    return None


def data_of(content_type: str | None, body: bytes) -> dict[str, Any]:
    """The member of the JSON format that holds this data, none without any. Raises Invalid naming `data`."""
    if not body:
        return {}
    if is_json(content_type):
        try:
            return {"data": msgspec.json.decode(body)}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Invalid.one("data", f"is not valid JSON: {error}") from None
    try:
        return {"data": body.decode()}
    except UnicodeDecodeError:
        return {"data_base64": base64.b64encode(body).decode()}


def _binary(headers: Mapping[str, str], body: bytes) -> CloudEvent:
    value: dict[str, Any] = {
        name[len(_PREFIX) :]: _text(name[len(_PREFIX) :], text)
        for name, text in headers.items()
        if name.startswith(_PREFIX)
    }
    for name in ("data", "data_base64", "datacontenttype"):
        if name in value:
            raise Invalid.one(name, "is the request's body or its Content-Type, not a header")
    if content_type := headers.get("content-type"):
        value["datacontenttype"] = content_type
    return CloudEvent.from_value(value | data_of(content_type, body))


def _text(name: str, header: str) -> str:
    """The value of an attribute's header (binding, 3.1.3.2): quoted or percent-encoded UTF-8."""
    if len(header) > 1 and header.startswith('"') and header.endswith('"'):
        header = header[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    try:
        return unquote_to_bytes(header.encode("latin-1")).decode()
    except UnicodeError:
        raise Invalid.one(name, "is not percent-encoded UTF-8") from None
