"""A request as it came in, and as it is kept."""

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from urllib.parse import parse_qsl, unquote_plus

from penstock.areas.webhooks.model import WebhookAuthentication, WebhookRequestMessage
from penstock.connectors.secret_fields import MASK

_SECRET_NAME = re.compile(
    r"authorization|cookie|secret|token|passw(or)?d|api[-_]?key|access[-_]?key|credential|session|^(.*[-_])?auth$",
    re.IGNORECASE,
)
_BINARY = "application/octet-stream"


@dataclass(frozen=True)
class WebhookRequest:
    """header_list: names in lower case, in the order of the request. query: undecoded."""

    method: str
    path: str
    query: str
    header_list: Iterable[tuple[str, str]]
    body: bytes

    @cached_property
    def headers(self) -> Mapping[str, str]:
        """By name; the values of a header that came more than once are joined by commas."""
        joined: dict[str, str] = {}
        for name, value in self.header_list:
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        return joined

    def parameter(self, name: str) -> str | None:
        """The first value of a query parameter."""
        pairs = parse_qsl(self.query, keep_blank_values=True)
        return next((value for key, value in pairs if key == name), None)

    def message(self, id: str, at: datetime, authentication: WebhookAuthentication) -> WebhookRequestMessage:
        """The request as it is kept, without what gives the sender's right to send away."""
        secret_header = (authentication.header or "").lower()
        content_type = self.headers.get("content-type")
        return WebhookRequestMessage(
            id=id,
            timestamp=at,
            method=self.method,
            path=self.path,
            headers={
                name: MASK if _SECRET_NAME.search(name) or name == secret_header else value
                for name, value in self.headers.items()
            },
            query_string="&".join(_masked(part, authentication.query) for part in self.query.split("&")),
            body=_body_text(self.body, content_type),
            content_type=content_type,
        )


def is_binary(body: bytes) -> bool:
    """Whether the body is kept in base64."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return True
    return False


def body_of(message: WebhookRequestMessage, *, binary: bool) -> bytes:
    """The body, byte for byte. binary: what `is_binary` said of it."""
    text = message.body or ""
    return base64.b64decode(text.rpartition(",")[2]) if binary else text.encode()


def _body_text(body: bytes, content_type: str | None) -> str:
    if is_binary(body):
        return f"data:{content_type or _BINARY};base64,{base64.b64encode(body).decode()}"
    return body.decode()


def _masked(part: str, secret: str | None) -> str:
    name, separator, _ = part.partition("=")
    plain = unquote_plus(name)
    hidden = separator and (plain == secret or _SECRET_NAME.search(plain))
    return f"{name}={MASK}" if hidden else part
