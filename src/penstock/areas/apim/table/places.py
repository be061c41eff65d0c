"""Where requests can go at the moment."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from penstock.kernel.names import name_key
from penstock.protocol.gateway import GatewayHost

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Place:
    """Hosts that are reached in one way. path: without a slash at its end."""

    hosts: Sequence[GatewayHost] = ()
    tls: bool = False
    path: str = ""


@dataclass(frozen=True)
class Places:
    """endpoints: by route in the form that names are compared in, the route as written and the agents' addresses.

    triggers: routes below `/web/` by what versions call them; None when there is none. server: address of the
    servers. refused: hosts that the guard of addresses refuses.
    """

    endpoints: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict)
    triggers: Mapping[str, str | None] = field(default_factory=dict)
    server: str = ""
    refused: AbstractSet[str] = frozenset()

    def endpoint(self, route: str) -> Place:
        """Agents that are reached in another way than most are left out: a version has one way."""
        written, addresses = self.endpoints.get(name_key(route), (route, ()))
        ways: dict[tuple[bool, str], list[GatewayHost]] = {}
        for address in addresses:
            place = place_of(address)
            if place is not None:
                ways.setdefault((place.tls, place.path), []).extend(place.hosts)
        if not ways:
            return Place()
        (tls, path), hosts = max(ways.items(), key=lambda way: (len(way[1]), way[0]))
        return Place(hosts, tls, path + written)

    def trigger(self, name: str) -> Place:
        route, server = self.triggers.get(name), place_of(self.server)
        if route is None or server is None:
            return Place()
        return Place(server.hosts, server.tls, f"{server.path}/web/{route}")


def place_of(address: str) -> Place | None:
    """An http or https address; None for any other text."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    host = GatewayHost(host=parts.hostname, port=port or _PORTS[parts.scheme])
    return Place([host], parts.scheme == "https", parts.path.rstrip("/"))
