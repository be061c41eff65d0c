"""Where a message goes over HTTP and how, as Camel's http component decides."""

from collections.abc import Sequence
from enum import StrEnum
from urllib.parse import quote, quote_plus, urlsplit, urlunsplit

import msgspec

from penstock.flow.exchange import Exchange, text_of
from penstock.flow.failures.errors import FlowError

_UNSAFE = "%:/?#[]@!$&'()*+,;=~-._"


class HttpMethod(StrEnum):
    """Methods of HTTP."""

    GET = "GET"
    PATCH = "PATCH"
    POST = "POST"
    PUT = "PUT"
    DELETE = "DELETE"
    HEAD = "HEAD"
    OPTIONS = "OPTIONS"
    TRACE = "TRACE"


_WITH_BODY = frozenset({HttpMethod.PATCH, HttpMethod.POST, HttpMethod.PUT})


class UnusableAddress(FlowError):
    """The message asks for an address or a method that cannot be used."""

    code = "unusable-address"
    title = "The address cannot be used"
    java = ("java.lang.IllegalArgumentException", "java.lang.RuntimeException")


class HttpTarget(msgspec.Struct, frozen=True):
    """The endpoint as it is configured. url: whole, with `extra` not in its query yet."""

    url: str
    extra: Sequence[tuple[str, str]] = ()
    method: HttpMethod | None = None
    bridge: bool = False

    def address(self, exchange: Exchange) -> str:
        """The address for this message: CamelHttpUri, CamelHttpPath and CamelHttpQuery change it.

        Raises UnusableAddress.
        """
        own = self._own()
        url = own if self.bridge else _header(exchange, "CamelHttpUri") or own
        scheme, host, path, query, _ = _split(url)
        path = _joined(path, _header(exchange, "CamelHttpPath") or "")
        asked = _header(exchange, "CamelHttpRawQuery") or _header(exchange, "CamelHttpQuery")
        query = asked or _split(own)[3] or query
        return urlunsplit((scheme, host, quote(path, safe=_UNSAFE), quote(query, safe=_UNSAFE), ""))

    def method_for(self, exchange: Exchange) -> HttpMethod:
        """The configured method, else CamelHttpMethod, else GET with a query or without a body, else POST."""
        if self.method is not None:
            return self.method
        asked = _header(exchange, "CamelHttpMethod")
        if asked is not None:
            try:
                return HttpMethod(asked.upper())
            except ValueError:
                raise UnusableAddress(f"header 'CamelHttpMethod' is '{asked}', which is not a method") from None
        uri = _header(exchange, "CamelHttpUri")
        query = uri.partition("?")[2] if uri is not None else _header(exchange, "CamelHttpQuery")
        if query or _split(self._own())[3]:
            return HttpMethod.GET
        return HttpMethod.GET if exchange.body in (None, b"") else HttpMethod.POST

    def _own(self) -> str:
        if not self.extra:
            return self.url
        more = "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in self.extra)
        return f"{self.url}{'&' if '?' in self.url else '?'}{more}"


def has_body(method: HttpMethod) -> bool:
    """Whether requests of the method carry the message's body."""
    return method in _WITH_BODY


def shown(url: str) -> str:
    """The address without what may be secret: credentials and query."""
    scheme, host, path, _, _ = urlsplit(url)
    return urlunsplit((scheme, host.rpartition("@")[2], path, "", ""))


def _header(exchange: Exchange, name: str) -> str | None:
    value = exchange.headers.get(name)
    return None if value is None else text_of(value)


def _split(url: str) -> tuple[str, str, str, str, str]:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise UnusableAddress("the address is not one of HTTP") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UnusableAddress(
            f"'{parts.path[:100]}' is not an address of HTTP; when the message came in over HTTP, "
            "set bridgeEndpoint=true, or remove the headers CamelHttp* first"
        )
    return parts.scheme, parts.netloc, parts.path, parts.query, parts.fragment


def _joined(path: str, further: str) -> str:
    """A path with another one below it; a single slash counts as the path it is."""
    further = further[1:] if len(further) > 1 and further.startswith("/") else further
    if not further:
        return path
    return f"{path.rstrip('/')}/{further.lstrip('/')}"
