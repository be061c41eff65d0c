"""Which server is meant, and as whom."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from penstock.client.credential import ApiKey, Password, StoredSession
from penstock.client.session import SessionFile, configuration_folder

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
        """Reads PENSTOCK_URL, PENSTOCK_API_KEY, PENSTOCK_USERNAME and PENSTOCK_PASSWORD."""
        return cls(
            address=(environment.get("PENSTOCK_URL") or DEFAULT_ADDRESS).rstrip("/"),
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
