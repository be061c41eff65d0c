"""An installation on one machine: where it is, and what its processes are told.

Kept light: `penstock up` lives as long as the installation runs.
"""

import errno
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import click

DEFAULT_FOLDER = ".penstock"
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8400
_PREFIX = "PENSTOCK_"
_AGENT_PREFIX = "PENSTOCK_AGENT_"
_GATEWAY_PREFIX = "PENSTOCK_GATEWAY_"
_OF_USERS = ("PENSTOCK_URL", "PENSTOCK_API_KEY", "PENSTOCK_USERNAME", "PENSTOCK_PASSWORD")
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - an address is reached by another name


def data_folder(environment: Mapping[str, str]) -> Path:
    """PENSTOCK_DATA, else `.penstock` in the working directory."""
    return Path(environment.get("PENSTOCK_DATA") or DEFAULT_FOLDER).expanduser().absolute()


def engine_folder(data: Path) -> Path:
    """Where engines are that are installed for the agent of an installation."""
    return data / "engines"


@dataclass(frozen=True)
class Installation:
    """folder: everything that is kept. host, port: where the server listens."""

    folder: Path
    host: str
    port: int

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Installation":
        """Reads PENSTOCK_DATA, PENSTOCK_HOST and PENSTOCK_PORT; port 0 takes a free one. Raises click.UsageError."""
        host = environment.get("PENSTOCK_HOST") or DEFAULT_HOST
        text = environment.get("PENSTOCK_PORT") or str(DEFAULT_PORT)
        if not text.isdecimal() or int(text) > 65535:
            raise click.UsageError("PENSTOCK_PORT must be a port, 0 to 65535.")
        return cls(data_folder(environment), host, int(text) or _free_port(host))

    @property
    def near_host(self) -> str:
        """The host under which this machine reaches the server."""
        return _EVERYWHERE.get(self.host, self.host)

    @property
    def address(self) -> str:
        """Where people on this machine reach the server."""
        return f"http://{f'[{self.near_host}]' if ':' in self.near_host else self.near_host}:{self.port}"

    @property
    def only_this_machine(self) -> bool:
        """Whether no other machine reaches the server."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def agent_folder(self) -> Path:
        return self.folder / "agent"

    @property
    def token_file(self) -> Path:
        return self.agent_folder / "token"

    @property
    def agent_is_known(self) -> bool:
        """Whether the local agent is registered already."""
        return (self.agent_folder / "identity.json").exists()

    @property
    def gateway_folder(self) -> Path:
        return self.folder / "gateway"

    @property
    def gateway_link(self) -> Path:
        """What the server writes once there is an API to serve."""
        return self.folder / "gateway-link.json"

    def check_port(self) -> None:
        """Raises click.ClickException when the server could not listen there."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
            except OSError as error:
                message = f"{self.host}:{self.port} cannot be used: {error.strerror}."
                if error.errno == errno.EADDRINUSE:
                    message += "\nStop what uses it, or choose another port, such as PENSTOCK_PORT=0 for a free one."
                raise click.ClickException(message) from None

    def server_environment(self, environment: Mapping[str, str], password_file: Path) -> dict[str, str]:
        """password_file: where the server keeps the password that it makes for the first Admin."""
        own = {
            name: value
            for name, value in environment.items()
            if not name.startswith((_AGENT_PREFIX, _GATEWAY_PREFIX)) and name not in _OF_USERS
        }
        own |= {
            "PENSTOCK_DATA": str(self.folder),
            "PENSTOCK_HOST": self.host,
            "PENSTOCK_PORT": str(self.port),
            "PENSTOCK_LOG_FORMAT": environment.get("PENSTOCK_LOG_FORMAT", "console"),
            "PENSTOCK_FIRST_PASSWORD_FILE": str(password_file),
            "PENSTOCK_LOCAL_GATEWAY_FILE": str(self.gateway_link),
        }
        if self.only_this_machine:
            # Whoever can ask for such a connection could make it without the server.
            own.setdefault("PENSTOCK_ALLOW_PRIVATE_ADDRESSES", "true")
        if not self.agent_is_known:
            own["PENSTOCK_LOCAL_AGENT_TOKEN_FILE"] = str(self.token_file)
        return own

    def agent_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Nothing that the server knows: the agent's commands could read it."""
        own = {
            name: value
            for name, value in environment.items()
            if not name.startswith(_PREFIX) or name.startswith(_AGENT_PREFIX)
        }
        own |= {"PENSTOCK_AGENT_FOLDER": str(self.agent_folder), "PENSTOCK_AGENT_SERVER": self.address}
        own.setdefault("PENSTOCK_AGENT_LOG_FORMAT", "console")
        own.setdefault("PENSTOCK_AGENT_ENGINE_FOLDER", str(engine_folder(self.folder)))
        if self.only_this_machine:
            own.setdefault("PENSTOCK_AGENT_ALLOW_PRIVATE_ADDRESSES", "true")
        if not self.agent_is_known and "PENSTOCK_AGENT_TOKEN" not in own:
            own["PENSTOCK_AGENT_TOKEN_FILE"] = str(self.token_file)
        return own

    def gateway_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Nothing that the server or the agent knows."""
        own = {
            name: value
            for name, value in environment.items()
            if not name.startswith(_PREFIX) or name.startswith(_GATEWAY_PREFIX)
        }
        own |= {
            "PENSTOCK_GATEWAY_FOLDER": str(self.gateway_folder),
            "PENSTOCK_GATEWAY_LINK_FILE": str(self.gateway_link),
        }
        own.setdefault("PENSTOCK_GATEWAY_LOG_FORMAT", "console")
        if self.only_this_machine:
            own.setdefault("PENSTOCK_GATEWAY_ALLOW_PRIVATE_ADDRESSES", "true")
        return own


def user_environment(address: str, environment: Mapping[str, str]) -> dict[str, str]:
    """For a program that calls the API as the first Admin."""
    own = {name: value for name, value in environment.items() if not name.startswith(_PREFIX)}
    password = environment.get("PENSTOCK_ADMIN_PASSWORD", "")
    return own | {"PENSTOCK_URL": address, "PENSTOCK_USERNAME": "admin", "PENSTOCK_PASSWORD": password}


def _free_port(host: str) -> int:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
