"""A request as operations see it, free of any web framework."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.kernel.actor import Actor


@dataclass(slots=True)
class Call:
    """One request.

    path: percent-encoded.
    path_values: the path parameters by their names in the template, percent-decoded.
    query: the query string, undecoded.
    headers: names in lower case; of a header that came more than once, the last value.
    header_list: every header in the order of the request, names in lower case.
    read: the body; raises TooLarge when it exceeds the bytes given.
    """

    method: str
    path: str
    path_values: Mapping[str, Any]
    query: bytes
    headers: Mapping[str, str]
    read: Callable[[int], Awaitable[bytes]]
    client: str
    scheme: str
    protocol: str
    actor: Actor | None = None
    header_list: Iterable[tuple[bytes, bytes]] = ()
