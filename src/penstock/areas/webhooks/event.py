"""The event that a request becomes."""

import re
from base64 import b64encode
from typing import Any
from urllib.parse import parse_qs

from penstock.areas.webhooks.model import EventData, Webhook, WebhookRequestMessage
from penstock.connectors import http_body
from penstock.protocol.cloudevent import JSON_MEDIA, CloudEvent

_MEDIA = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+(?:\s*;[ -~]*)?", re.ASCII)
_LONGEST_MEDIA = 256
_TYPE_PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


def event_of(webhook: Webhook, message: WebhookRequestMessage, body: bytes, id: str) -> CloudEvent:
    """id: the event's. Raises Invalid when no event can be made."""
    media, data = _body(message.content_type or "", body)
    if webhook.data is EventData.REQUEST:
        media, data = JSON_MEDIA, _whole(message, data)
    binary = isinstance(data, bytes)
    return CloudEvent.from_value(
        {
            "specversion": "1.0",
            "id": id,
            "source": webhook.source,
            "type": _type(webhook, message),
            "time": message.timestamp.isoformat().replace("+00:00", "Z"),
            "datacontenttype": media,
            "data": None if binary else data,
            "data_base64": b64encode(data).decode() if binary else None,
            "rehandledfrom": message.original_message_id,
        }
    )


def _body(content_type: str, body: bytes) -> tuple[str | None, Any]:
    """Media type and data; neither for an empty body."""
    if not body:
        return None, None
    if len(content_type) <= _LONGEST_MEDIA and _MEDIA.fullmatch(content_type):
        return http_body.body_of(content_type, body)
    return http_body.guessed(body)


def _whole(message: WebhookRequestMessage, data: Any) -> dict[str, Any]:
    query = parse_qs(message.query_string or "", keep_blank_values=True)
    return {
        "method": message.method,
        "path": message.path,
        "query": {name: values[0] if len(values) == 1 else values for name, values in query.items()},
        "headers": message.headers,
        "contentType": message.content_type,
        # Bytes are told by their `data:` URL.
        "body": message.body if isinstance(data, bytes) else data,
    }


def _type(webhook: Webhook, message: WebhookRequestMessage) -> str:
    value = (message.headers or {}).get((webhook.type_header or "").lower(), "")
    return f"{webhook.event_type}.{value}" if _TYPE_PART.fullmatch(value) else webhook.event_type
