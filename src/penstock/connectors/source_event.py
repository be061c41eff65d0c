"""The event that a finding becomes."""

import hashlib
from base64 import b64encode
from datetime import UTC, datetime
from urllib.parse import quote
from uuid import UUID

import msgspec

from penstock.connectors.source import Finding, SourceKind
from penstock.protocol.cloudevent import CloudEvent

LARGEST = 1 << 20
"""Bytes that an event may have."""
OMITTED = "omittedbytes"


def event_of(finding: Finding, use: SourceKind, name: str, id: UUID, place: str, now: datetime) -> CloudEvent:
    """name, id: the event source's. place: where it runs, such as an agent's id.

    The same finding makes an event with the same id each time. One that would be too large comes without its data; the
    attribute `omittedbytes` tells how large it was. Raises Invalid when the finding makes no CloudEvent.
    """
    binary = isinstance(finding.data, bytes)
    moment = (finding.time or now).astimezone(UTC)
    event = CloudEvent.from_value(
        {
            "specversion": "1.0",
            "id": _event_id(id, "" if use.shared else place, finding.key),
            "source": use.source or default_source(name),
            "type": use.event_type or finding.type,
            "time": moment.isoformat().replace("+00:00", "Z"),
            "subject": finding.subject or None,
            "datacontenttype": finding.media_type,
            "data": None if binary else finding.data,
            "data_base64": b64encode(finding.data).decode() if binary else None,
        }
    )
    size = len(event.to_json())
    if size <= LARGEST:
        return event
    return msgspec.structs.replace(event, data=None, data_base64=None, extensions={OMITTED: size})


def default_source(name: str) -> str:
    """The attribute `source` of the events of an event source that names no other."""
    return f"/eventsources/{quote(name)}"


def _event_id(id: UUID, place: str, key: str) -> str:
    return hashlib.blake2b("\0".join((str(id), place, key)).encode(), digest_size=16).hexdigest()
