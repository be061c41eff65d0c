"""Which headers of a message are headers of HTTP, as Camel's filter for HTTP decides."""

from collections.abc import Iterable, Iterator

from penstock.flow.exchange import text_of
from penstock.flow.headers import Headers

_CAMELS_OWN = ("camel", "org.apache.camel.")
_OF_ONE_MESSAGE = frozenset(
    {
        "content-length",
        "content-type",
        "host",
        "cache-control",
        "connection",
        "date",
        "pragma",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "via",
        "warning",
    }
)
_OF_ONE_HOP = _OF_ONE_MESSAGE | {
    *("content-encoding", "content-language", "content-location", "content-md5", "content-range", "dav", "depth"),
    *("destination", "etag", "expect", "expires", "from", "if", "if-match", "if-modified-since", "if-none-match"),
    *("if-range", "if-unmodified-since", "last-modified", "location", "lock-token", "max-forwards", "overwrite"),
    *("proxy-authenticate", "proxy-authorization", "range", "referer", "retry-after", "server", "status-uri", "te"),
    *("timeout", "user-agent", "vary", "www-authenticate"),
}


def outgoing(headers: Headers) -> Iterator[tuple[str, list[str]]]:
    """The headers that are sent, without those of Camel and those that the other side or the client makes."""
    for name, value in headers.items():
        lower = name.lower()
        if value is None or lower in _OF_ONE_MESSAGE or lower.startswith(_CAMELS_OWN):
            continue
        values = value if isinstance(value, list | tuple) else [value]
        yield name, [_line(text_of(item)) for item in values if item is not None]


def take_in(fields: Iterable[tuple[str, str]], headers: Headers) -> None:
    """Adds what came; a name that comes again makes a list. Nobody can set Camel's own headers from outside."""
    for name, value in fields:
        if name.lower().startswith(_CAMELS_OWN):
            continue
        if name not in headers:
            headers[name] = value
        else:
            known = headers[name]
            headers[name] = [*known, value] if isinstance(known, list) else [known, value]


def outlasts_answer(name: str) -> bool:
    """Whether a header of the request's message is kept in the message that the answer makes."""
    return name.lower() not in _OF_ONE_HOP


def _line(text: str) -> str:
    """A value cannot begin another header."""
    return text.replace("\r", " ").replace("\n", " ")
