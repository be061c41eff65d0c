"""Where a queue is and how to log in: connection strings in the forms that are usual for AMQP 1.0."""

import ssl
from urllib.parse import unquote, urlsplit

import msgspec

_FORMS = (
    "must be like 'amqps://user:password@host:5671' or "
    "'Endpoint=sb://host/;SharedAccessKeyName=...;SharedAccessKey=...'"
)
_PORTS = {"amqp": 5672, "amqps": 5671, "sb": 5671}


class AmqpAddress(msgspec.Struct, frozen=True):
    """user, password: both empty logs in as nobody. queue: that the connection string names itself."""

    host: str
    port: int
    tls: bool
    user: str = ""
    password: str = ""
    queue: str = ""

    def __repr__(self) -> str:
        return f"AmqpAddress({self.host}:{self.port})"

    def tls_context(self) -> ssl.SSLContext | None:
        return ssl.create_default_context() if self.tls else None


def parse_connection_string(text: str) -> AmqpAddress:
    """Raises ValueError with what is allowed; it does not repeat the text, which holds a password."""
    return _of_parts(text) if "=" in text.partition("://")[0] else _of_url(text)


def _of_url(text: str) -> AmqpAddress:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError(_FORMS) from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(_FORMS)
    return AmqpAddress(
        parts.hostname,
        port or _PORTS[parts.scheme],
        parts.scheme != "amqp",
        unquote(parts.username or ""),
        unquote(parts.password or ""),
    )


def _of_parts(text: str) -> AmqpAddress:
    pairs = [part.partition("=") for part in text.split(";") if part.strip()]
    values = {name.strip().lower(): value.strip() for name, _, value in pairs}
    endpoint = _of_url(values.get("endpoint", ""))
    if not values.get("sharedaccesskeyname") or not values.get("sharedaccesskey"):
        raise ValueError(_FORMS)
    emulator = values.get("usedevelopmentemulator", "").lower() == "true"
    return msgspec.structs.replace(
        endpoint,
        tls=not emulator,
        port=_PORTS["amqp"] if emulator and endpoint.port == _PORTS["amqps"] else endpoint.port,
        user=values["sharedaccesskeyname"],
        password=values["sharedaccesskey"],
        queue=values.get("entitypath", ""),
    )
