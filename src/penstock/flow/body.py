"""Bodies of messages as bytes, and bytes as bodies."""

import re

from penstock.flow.failures.errors import FlowError
from penstock.flow.values import text_of

_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
_TEXT = re.compile(r"text/.+|.+[/+](?:json|xml|yaml|x-ndjson)|application/(?:x-www-form-urlencoded|javascript|graphql)")


class BodyUnsuitable(FlowError):
    """The body cannot be what is needed here; the detail says what to do."""

    code = "body-unsuitable"
    title = "The body does not fit"
    java = ("org.apache.camel.InvalidPayloadException", "org.apache.camel.CamelExchangeException")


def bytes_of(body: object, charset: str | None = None) -> bytes:
    """What is sent or written for a body; nothing for None. Raises BodyUnsuitable."""
    if isinstance(body, bytes | bytearray):
        return bytes(body)
    if isinstance(body, dict | list | tuple):
        kind = "a map" if isinstance(body, dict) else "a list"
        raise BodyUnsuitable(f"the body is {kind}: marshal it first, as in `- marshal: {{json: {{}}}}`")
    try:
        return text_of(body).encode(charset or "utf-8")
    except (LookupError, UnicodeEncodeError):
        raise BodyUnsuitable(f"the body cannot be written in the charset '{charset}'") from None


def body_of(content: bytes, content_type: str = "") -> str | bytes | None:
    """Text when the type says so, or when it says nothing and the content is UTF-8; None for no content."""
    if not content:
        return None
    media = content_type.partition(";")[0].strip().lower()
    charset = charset_of(content_type)
    if media and charset is None and not _TEXT.fullmatch(media):
        return content
    try:
        return content.decode(charset or "utf-8")
    except (LookupError, UnicodeDecodeError):
        return content


def charset_of(content_type: str) -> str | None:
    """The charset that a content type names."""
    found = _CHARSET.search(content_type)
    return found[1] if found else None
