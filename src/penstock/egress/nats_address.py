"""Addresses of NATS servers, and where they are connected to."""

from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from penstock.egress.address_guard import AddressGuard

_PORT = 4222
_EXPECTED = "must be an address like 'nats://host:4222'"


class NatsAddress(NamedTuple):
    """scheme: `nats` or `tls`. user, password: empty when there are none; a token is a user without password."""

    scheme: str
    host: str
    port: int
    user: str = ""
    password: str = ""

    @classmethod
    def parse(cls, text: str) -> "NatsAddress":
        """Raises ValueError with what is allowed; the text, which may hold a password, is not repeated."""
        try:
            parts = urlsplit(text.strip())
            port = parts.port
        except ValueError:
            raise ValueError(_EXPECTED) from None
        if parts.scheme not in ("nats", "tls") or not parts.hostname or port == 0:
            raise ValueError(_EXPECTED)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return cls(parts.scheme, parts.hostname, port or _PORT, user, password)

    async def pinned(self, guard: AddressGuard) -> str:
        """The address with the host resolved and checked, without credentials. Raises AddressRefused, OSError."""
        address = (await guard.resolve(self.host))[0]
        host = f"[{address}]" if ":" in address else address
        return f"{self.scheme}://{host}:{self.port}"
