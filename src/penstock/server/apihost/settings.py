"""Settings of the stand-alone host of APIs."""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from penstock.kernel.errors import Invalid
from penstock.kernel.settings import read_settings
from penstock.server.settings import Network, Port

PREFIX = "PENSTOCK_APIHOST_"
_SHORTEST_KEY = 16

DEFAULTS = """
# Where it listens: operations below /admin and endpoints at their routes.
host = "127.0.0.1"
port = 8490

# What callers of the operations below /admin send as X-API-Key or bearer token, at least 16 characters. Empty: one is
# made at each start and printed.
key = ""

# Who calls endpoints must send this as the header X-Endpoint-Key. Empty: nobody has to, and endpoints are served on a
# loopback address only; none: nobody has to, wherever they are served.
endpoint_key = ""

# Where environments of packages are kept; nothing else is. Empty: in the folder for temporary files.
folder = ""

# Where packages come from that are added without a feed: an index; empty: the one that uv is configured to use; none:
# no index, the folder alone. And a folder with wheels, looked into as well.
package_index = ""
package_folder = ""

# Seconds before an endpoint that failed is tried again, and between two looks at its health.
retry_seconds = 5.0
probe_seconds = 10.0

# The longest body of a request to an endpoint, in MiB.
body_mb = 64

# Addresses of proxies whose word on the caller's address counts, like 10.0.0.0/8; and how long a stop waits.
trusted_proxies = []
grace_seconds = 5

# json, console, or auto: console on a terminal.
log_format = "auto"
log_level = "info"
"""


class ApiHostSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What `DEFAULTS` explains."""

    host: Annotated[str, msgspec.Meta(min_length=1)]
    port: Port
    key: str
    endpoint_key: str
    folder: str
    package_index: str
    package_folder: str
    retry_seconds: Annotated[float, msgspec.Meta(ge=0, le=3600)]
    probe_seconds: Annotated[float, msgspec.Meta(ge=0.05, le=3600)]
    body_mb: Annotated[int, msgspec.Meta(ge=1, le=2048)]
    trusted_proxies: list[Network]
    grace_seconds: Annotated[int, msgspec.Meta(ge=0, le=300)]
    log_format: Literal["auto", "json", "console"]
    log_level: Literal["debug", "info", "warning", "error"]


def apihost_settings(environment: Mapping[str, str]) -> ApiHostSettings:
    """Raises Invalid naming every unknown or bad one."""
    settings = read_settings(ApiHostSettings, DEFAULTS, environment, PREFIX)
    if settings.key and len(settings.key) < _SHORTEST_KEY:
        raise Invalid.one(PREFIX + "KEY", f"must have at least {_SHORTEST_KEY} characters")
    return settings
