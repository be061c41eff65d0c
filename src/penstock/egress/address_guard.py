"""Which addresses the platform may connect to on behalf of a configuration (against server-side request forgery)."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from penstock.kernel.errors import FieldError, Forbidden, Invalid

Address = IPv4Address | IPv6Address
Resolve = Callable[[str], Awaitable[Sequence[str]]]

_REASON = (
    "is in a private, loopback, link-local or reserved range (see the setting PENSTOCK_ALLOW_PRIVATE_ADDRESSES, "
    "for agents PENSTOCK_AGENT_ALLOW_PRIVATE_ADDRESSES)"
)
# IPv6 networks whose addresses hold an IPv4 address that the network's gateway connects to, and where in it.
_TRANSLATED = (
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64 (RFC 6052)
    (IPv6Network("2002::/16"), 80),  # 6to4 (RFC 3056)
    (IPv6Network("::/96"), 0),  # IPv4-compatible (RFC 4291, deprecated)
)
_TEREDO = IPv6Network("2001::/32")
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
_SITE_LOCAL = IPv6Network("fec0::/10")
_METADATA = IPv4Address("168.63.129.16")  # the one cloud metadata service at a public address


class AddressRefused(Forbidden):
    """The host resolves to an address that may not be connected to."""

    code = "address-refused"
    title = "The address is refused"


async def system_resolve(host: str) -> Sequence[str]:
    """All addresses of a host name, by the system's resolver. Raises OSError when there are none."""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class AddressGuard:
    """Refuses all but public addresses, unless private ones are allowed."""

    def __init__(self, *, allow_private: bool, resolve: Resolve = system_resolve) -> None:
        self.allow_private = allow_private
        self._resolve = resolve

    async def resolve(self, host: str) -> Sequence[str]:
        """The addresses to connect to; connect to these and not to the name, which may mean others a moment later.

        Raises AddressRefused when one of them is refused, OSError when the name means nothing.
        """
        literal = _literal(host)
        found = [str(literal)] if literal else list(await self._resolve(host))
        refused = [address for address in found if not self._allows(address)]
        if refused:
            raise AddressRefused(f"{host} {_REASON}")
        if not found:
            raise OSError(f"{host} has no address")
        return found

    async def check(self, targets: Mapping[str, str]) -> None:
        """Checks hosts before they are stored. targets: field -> host.

        Raises Invalid naming the fields of refused ones. A name that means nothing now is let pass: connecting
        checks again.
        """
        errors = []
        for field, host in targets.items():
            try:
                await self.resolve(host)
            except AddressRefused:
                errors.append(FieldError(field, f"{host} {_REASON}"))
            except OSError:
                continue
        if errors:
            raise Invalid(errors)

    def _allows(self, address: str) -> bool:
        return self.allow_private or is_public(ip_address(address.partition("%")[0]))


@lru_cache(1024)
def is_public(address: Address) -> bool:
    """Whether the address, and the one that it stands for, is globally reachable unicast."""
    if isinstance(address, IPv4Address):
        return address.is_global and not (address.is_multicast or address.is_reserved or address == _METADATA)
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in _TEREDO or address in _LOCAL_NAT64 or address in _SITE_LOCAL:
        return False
    for network, shift in _TRANSLATED:
        if address in network:
            return is_public(IPv4Address(int(address) >> shift & 0xFFFFFFFF))
    return address.is_global and not address.is_multicast


@lru_cache(1024)
def _literal(host: str) -> Address | None:
    """The address when the host is one, also in the old forms that the system's resolver takes, such as 127.1."""
    bare = host.strip("[]")
    try:
        return ip_address(bare.partition("%")[0])
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(bare)) if bare and bare[0].isdigit() else None
    except OSError:
        return None
