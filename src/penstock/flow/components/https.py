"""`https:ADDRESS`: a request to an HTTP server, encrypted."""

from typing import ClassVar

from penstock.flow.components.http import Http


class Https(Http, frozen=True, kw_only=True):
    """The same as `http`; certificates are checked."""

    element = "https"
    scheme: ClassVar[str] = "https"
