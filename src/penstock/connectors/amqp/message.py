"""Events as AMQP 1.0 messages (part 3.2; CloudEvents AMQP protocol binding 1.0)."""

from penstock.connectors.amqp.encoding import (
    NULL,
    binary,
    boolean,
    described,
    list_of,
    long,
    map_of,
    string,
    symbol,
    ubyte,
)
from penstock.protocol.cloudevent import EVENT_MEDIA, JSON_MEDIA, CloudEvent, Extension

_HEADER, _PROPERTIES, _APPLICATION_PROPERTIES, _DATA = 0x70, 0x73, 0x74, 0x75
_PREFIX = "cloudEvents_"
_NORMAL = 4  # priority


def structured(event: CloudEvent) -> bytes:
    """The whole event in JSON as the message's data."""
    return _message(event, EVENT_MEDIA, b"", event.to_json())


def binary_mode(event: CloudEvent) -> bytes:
    """The attributes as application properties, the data alone as the message's data."""
    attributes = {
        string(_PREFIX + name): _value(value) for name, value in event.attributes().items() if name != "datacontenttype"
    }
    properties = described(_APPLICATION_PROPERTIES, map_of(attributes))
    return _message(event, event.datacontenttype or JSON_MEDIA, properties, event.payload())


def _message(event: CloudEvent, media_type: str, application_properties: bytes, data: bytes) -> bytes:
    # Brokers that look for duplicates do so by the message id, which is the same in every try.
    properties = [string(event.key), NULL, NULL, NULL, NULL, NULL, symbol(media_type)]
    return b"".join(
        [
            described(_HEADER, list_of([boolean(True), ubyte(_NORMAL)])),
            described(_PROPERTIES, list_of(properties)),
            application_properties,
            described(_DATA, binary(data)),
        ]
    )


def _value(value: Extension) -> bytes:
    if isinstance(value, bool):
        return boolean(value)
    return long(value) if isinstance(value, int) else string(value)
