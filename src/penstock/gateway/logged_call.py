"""A line of a gateway's access log: what Envoy is told to write, and what is read of it.

No query strings and no headers that carry keys: the log shows who called what, never how they proved it.
"""

from datetime import datetime

import msgspec

SEPARATOR = "/"


class LoggedCall(msgspec.Struct, frozen=True):
    """time: when the request began. route: see RouteName; None where no route was found.

    path: as it was asked for, without its query. ms: until the answer had been sent. received, sent: bytes of bodies.
    flags: why Envoy answered by itself, in its own letters; "-" and None are nothing.
    """

    time: datetime
    route: str | None = None
    status: int = 0
    ms: int = 0
    received: int = 0
    sent: int = 0
    method: str | None = None
    path: str | None = None
    client: str | None = None
    flags: str | None = None
    upstream: str | None = None


LOG_FORMAT = {
    "time": "%START_TIME%",
    "route": "%ROUTE_NAME%",
    "status": "%RESPONSE_CODE%",
    "ms": "%DURATION%",
    "received": "%BYTES_RECEIVED%",
    "sent": "%BYTES_SENT%",
    "method": "%REQ(:METHOD)%",
    "path": "%PATH(NQ:ORIG_OR_PATH)%",
    "client": "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
    "flags": "%RESPONSE_FLAGS%",
    "upstream": "%UPSTREAM_HOST%",
}
"""`json_format` of Envoy's access log: one operator in each field, so that numbers stay numbers."""


class RouteName(msgspec.Struct, frozen=True):
    """What a call is counted as. subscription: None where no key was shown, or one that does not fit."""

    api: str
    version: str
    subscription: str | None = None

    def __str__(self) -> str:
        """The name of a route. The three are names, which have no slashes."""
        return SEPARATOR.join((self.api, self.version, self.subscription or ""))


def route_named(text: str | None) -> RouteName | None:
    """None for what no route of a version is called, such as calls to paths that nobody serves."""
    parts = (text or "").split(SEPARATOR)
    return RouteName(parts[0], parts[1], parts[2] or None) if len(parts) == 3 and parts[0] else None
