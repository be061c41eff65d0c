"""With what a gateway gets onto the bus."""

import base64
from pathlib import Path
from typing import Protocol

import msgspec

from penstock.bus.credentials import UserCredential
from penstock.kernel.errors import Invalid, UnusableFile, naming_files
from penstock.kernel.names import check_name

_USER = "gateway "


class BusAccess(msgspec.Struct, frozen=True):
    """servers: addresses of the bus."""

    servers: list[str]
    jwt: str
    seed: str

    @property
    def credential(self) -> UserCredential:
        return UserCredential(self.jwt, self.seed)

    @property
    def gateway(self) -> str:
        """The gateway that the credential is for. Raises Invalid for another's."""
        return gateway_named(self.jwt)


class AccessSource(Protocol):
    """Where it is read, anew for each connection."""

    def read(self) -> BusAccess:
        """Raises UnusableFile, Invalid."""
        ...


class LinkFile:
    """What a server on the same machine wrote: the addresses of its bus may be others after its next start."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> BusAccess:
        with naming_files():
            content = self._path.read_bytes()
        try:
            return msgspec.json.decode(content, type=BusAccess)
        except msgspec.DecodeError as error:
            raise UnusableFile(f"{self._path} does not say how to get onto the bus: {error}") from None


class CredentialsFile:
    """A `.creds` file, and the addresses of the bus."""

    def __init__(self, path: Path, servers: list[str]) -> None:
        self._path = path
        self._servers = servers

    def read(self) -> BusAccess:
        with naming_files():
            credential = UserCredential.of_file_text(self._path.read_text())
        return BusAccess(self._servers, credential.jwt, credential.seed)


def gateway_named(jwt: str) -> str:
    """The name of the gateway that a credential is for. Raises Invalid."""
    try:
        payload = jwt.split(".")[1]
        user = msgspec.json.decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["name"]
    except (IndexError, KeyError, TypeError, ValueError):
        user = ""
    if not isinstance(user, str) or not user.startswith(_USER):
        raise Invalid.one("", "the credentials are no gateway's; `penstock nats-credentials gateway:NAME` makes some")
    return check_name("name", user.removeprefix(_USER))
