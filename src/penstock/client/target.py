"""Which server is meant, and as whom."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from penstock.client.credential import ApiKey, Password, StoredSession
from penstock.client.session import SessionFile, configuration_folder
from penstock.kernel.errors import Invalid

DEFAULT_ADDRESS = "http://127.0.0.1:8400"


@dataclass(frozen=True)
class Target:
    """A server's address and the credential to use there; without one the stored session is used."""

    address: str
    api_key: str = field(default="", repr=False)
    username: str = ""
    password: str = field(default="", repr=False)

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> "Target":
        """Reads PENSTOCK_URL, PENSTOCK_API_KEY, PENSTOCK_USERNAME and PENSTOCK_PASSWORD. Raises Invalid."""
        address = (environment.get("PENSTOCK_URL") or DEFAULT_ADDRESS).rstrip("/")
        if not _is_address(address):
            raise Invalid.one("", f"'{address}' is not the address of a server, which looks like {DEFAULT_ADDRESS}")
        return cls(
            address=address,
            api_key=environment.get("PENSTOCK_API_KEY", ""),
            username=environment.get("PENSTOCK_USERNAME", ""),
            password=environment.get("PENSTOCK_PASSWORD", ""),
        )

    def credential(self, sessions: SessionFile | None = None) -> httpx.Auth:
        """API key before user name and password before the stored session."""
        if self.api_key:
            return ApiKey(self.api_key)
        if self.username and self.password:
            return Password(self.address, self.username, self.password)
        return StoredSession(self.address, sessions or SessionFile(configuration_folder()))


def _is_address(text: str) -> bool:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        return False
    return url.scheme in ("http", "https") and bool(url.host) and not url.userinfo and not url.query
