"""What the server says of itself and of the request it got."""

from datetime import datetime

from penstock.kernel.wire import Wire


class SystemInfo(Wire):
    """The server's build and machine, and the request as it arrived.

    BuildDate: when the running files were installed. Headers: `name: value`, secrets masked.
    RequestNetwork: the caller's address as the server sees it.
    """

    build_date: datetime | None = None
    build_version: str | None = None
    host_name: str | None = None
    method: str | None = None
    headers: list[str] | None = None
    scheme: str | None = None
    protocol: str | None = None
    is_https: bool = False
    request_network: str | None = None
