"""What a caller is told who cannot be served by the API it asked for."""

from dataclasses import dataclass
from http import HTTPStatus

import msgspec


@dataclass(frozen=True)
class Refusal:
    """A problem document (RFC 9457). retry_after: seconds; 0 when there is nothing to wait for."""

    status: int
    detail: str
    retry_after: int = 0

    def answer(self, *, close: bool, bodiless: bool) -> bytes:
        """The whole answer. bodiless: to HEAD."""
        phrase = HTTPStatus(self.status).phrase
        document = {"type": "about:blank", "title": phrase, "status": self.status, "detail": self.detail}
        body = msgspec.json.encode(document)
        lines = [
            f"HTTP/1.1 {self.status} {phrase}",
            "content-type: application/problem+json",
            f"content-length: {len(body)}",
            "server: penstock",
        ]
        if self.retry_after:
            lines.append(f"retry-after: {self.retry_after}")
        if close:
            lines.append("connection: close")
        head = "\r\n".join(lines).encode() + b"\r\n\r\n"
        return head if bodiless else head + body
