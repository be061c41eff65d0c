"""Proxies whose word on who called them counts."""

import ipaddress
from collections.abc import Sequence

from penstock.kernel.errors import Invalid

EVERYBODY = "*"


class TrustedProxies:
    """networks: their addresses, like 10.0.0.0/8, or `*`. setting: what names them."""

    def __init__(self, networks: Sequence[str], setting: str) -> None:
        """Raises Invalid."""
        self._everybody = EVERYBODY in networks
        try:
            self._networks = [ipaddress.ip_network(each, strict=False) for each in networks if each != EVERYBODY]
        except ValueError as error:
            raise Invalid.one(setting, f"{error}: must be addresses or networks like 10.0.0.0/8") from None

    def caller(self, peer: str, forwarded_for: str, forwarded_proto: str) -> tuple[str, str]:
        """Address and scheme of the caller. peer: who is connected; the others: as it says."""
        if not self._trusts(peer):
            return peer, "http"
        scheme = "https" if forwarded_proto.strip().lower() in ("https", "wss") else "http"
        found = peer
        for address in reversed([each.strip() for each in forwarded_for.split(",") if each.strip()]):
            found = address
            if not self._trusts(address):
                break
        return found, scheme

    def _trusts(self, address: str) -> bool:
        if self._everybody or not self._networks:
            return self._everybody
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self._networks)
