"""The head of a request to an endpoint, and that of the answer, as the next connection is to see them."""

from collections.abc import Sequence

import httptools

Headers = Sequence[tuple[bytes, bytes]]

KEY = b"x-endpoint-key"
_CONNECTIONS_OWN = frozenset(
    {
        b"connection",
        b"expect",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
"""Headers of one connection (RFC 9110, 7.6.1), which are not passed on."""
_MESSAGES_OWN = frozenset({b"content-length", b"host"})
"""What says where a message ends, and whom it is for, is not of the connection, whoever claims it."""
_FORWARDED_FOR, _FORWARDED_PROTO = b"x-forwarded-for", b"x-forwarded-proto"
_DROPPED = _CONNECTIONS_OWN | {KEY, _FORWARDED_FOR, _FORWARDED_PROTO}
_NOTED = _DROPPED | {b"content-length"}


class RequestHead:
    """What a request begins with. version: of HTTP. path, query: as they came.

    coding: how the body is transferred; empty for as it is.
    """

    __slots__ = ("_kept", "_noted", "coding", "method", "path", "query", "version")

    def __init__(self, method: bytes, target: bytes, headers: Headers, version: str) -> None:
        """Raises ValueError for a target that has no path."""
        try:
            url = httptools.parse_url(target)
        except httptools.HttpParserInvalidURLError:
            raise ValueError("the target has no path") from None
        self.method = method
        self.path: bytes = url.path or b"/"
        self.query: bytes = url.query or b""
        self.version = version
        self._noted: dict[bytes, bytes] = {}
        self._kept: list[tuple[bytes, bytes]] = []
        for name, value in headers:
            lower = name.lower()
            if lower in _NOTED:
                self._noted[lower] = self._noted[lower] + b"," + value if lower in self._noted else value
            if lower not in _DROPPED:
                self._kept.append((lower, value))
        self.coding = self._noted.get(b"transfer-encoding", b"").strip().lower()

    @property
    def key(self) -> str | None:
        """That the caller shows."""
        found = self._noted.get(KEY)
        return found.decode("latin-1") if found is not None else None

    @property
    def forwarded(self) -> tuple[str, str]:
        """What the caller says of who called it, and by which scheme."""
        return self._text(_FORWARDED_FOR), self._text(_FORWARDED_PROTO)

    @property
    def length(self) -> int:
        """Bytes of its body, as far as it says."""
        return int(self._noted.get(b"content-length", b"0"))

    @property
    def asks_to_go_on(self) -> bool:
        """Whether the caller waits for a word before it sends the body."""
        return self.version == "1.1" and self._noted.get(b"expect", b"").lower() == b"100-continue"

    @property
    def opens_websocket(self) -> bool:
        return (
            self.method == b"GET"
            and self.version == "1.1"
            and self._noted.get(b"upgrade", b"").strip().lower() == b"websocket"
            and b"upgrade" in _words(self._noted.get(b"connection", b""))
        )

    def passed_on(self, route: int, client: str, scheme: str) -> bytes:
        """The head for the process. route: length of what its path begins with. client: address of the caller."""
        target = self.path[route:] or b"/"
        if self.query:
            target += b"?" + self.query
        lines = [b"%b %b HTTP/1.1\r\n" % (self.method, target)]
        lines += [b"%b: %b\r\n" % header for header in self._without_named()]
        if client:
            lines.append(b"x-forwarded-for: %b\r\nx-forwarded-proto: %b\r\n" % (client.encode(), scheme.encode()))
        if self.coding:
            lines.append(b"transfer-encoding: chunked\r\n")
        if self.opens_websocket:
            lines.append(b"connection: Upgrade\r\nupgrade: websocket\r\n")
        lines.append(b"\r\n")
        return b"".join(lines)

    def _without_named(self) -> Headers:
        connection = self._noted.get(b"connection")
        return _without(self._kept, _named(connection)) if connection else self._kept

    def _text(self, name: bytes) -> str:
        return self._noted.get(name, b"").decode("latin-1")


def answer_lines(headers: Headers) -> tuple[list[bytes], frozenset[bytes]]:
    """The headers of an answer that are passed on, each as a line, and the names of all that came, in small letters."""
    names = frozenset([name.lower() for name, _ in headers])
    if not names.isdisjoint(_CONNECTIONS_OWN):
        named = [_named(value) for name, value in headers if name.lower() == b"connection"]
        headers = _without(headers, _CONNECTIONS_OWN.union(*named))
    return [b"%b: %b\r\n" % header for header in headers], names


def _without(headers: Headers, names: frozenset[bytes]) -> Headers:
    return [header for header in headers if header[0].lower() not in names]


def _named(connection: bytes) -> frozenset[bytes]:
    """The headers that a header Connection calls its own."""
    return _words(connection) - _MESSAGES_OWN


def _words(value: bytes) -> frozenset[bytes]:
    return frozenset(word.strip().lower() for word in value.split(b","))
