"""Events as HTTP requests: the structured and the binary mode of the CloudEvents HTTP protocol binding 1.0."""

from urllib.parse import quote

from penstock.protocol.cloudevent import EVENT_MEDIA, JSON_MEDIA, CloudEvent, Extension

# Printable ASCII but space, double quote and percent stays (binding, 3.1.3.2).
_SAFE = "!#$&'()*+,-./:;<=>?@[\\]^_`{|}~"


def structured(event: CloudEvent) -> tuple[dict[str, str], bytes]:
    """Headers and body: the whole event in JSON."""
    return {"content-type": EVENT_MEDIA}, event.to_json()


def binary(event: CloudEvent, prefix: str = "ce-") -> tuple[dict[str, str], bytes]:
    """Headers and body: the attributes as headers, the data alone as body."""
    headers = {
        prefix + name: quote(_text(value), safe=_SAFE)
        for name, value in event.attributes().items()
        if name != "datacontenttype"
    }
    if event.data is not None or event.data_base64 is not None:
        headers["content-type"] = event.datacontenttype or JSON_MEDIA
    return headers, event.payload()


def _text(value: Extension) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
