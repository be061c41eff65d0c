"""Settings of the server: the commented file of defaults beside this module, the environment over it."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from penstock.bus.configuration import bracketed
from penstock.kernel.settings import read_settings

PREFIX = "PENSTOCK_"
ELSEWHERE = frozenset(
    {
        "PENSTOCK_AGENT_",
        "PENSTOCK_APIHOST_",
        "PENSTOCK_ENGINE_",
        "PENSTOCK_GATEWAY_",
        "PENSTOCK_RUN",
        "PENSTOCK_URL",
        "PENSTOCK_API_KEY",
        "PENSTOCK_USERNAME",
        "PENSTOCK_PASSWORD",
    }
)
"""Names with the prefix that agents, commands and the command line read."""

Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]
RetrySeconds = Annotated[float, msgspec.Meta(ge=0, le=86400)]
WebAddress = Annotated[
    str, msgspec.Meta(pattern=r"^(https?://[^/\s]\S*)?$", description="an address like https://penstock.example.com")
]
Origin = Annotated[
    str, msgspec.Meta(pattern=r"^(\*|https?://[^/\s]+)$", description="* or origins like https://console.example.com")
]
Network = Annotated[
    str, msgspec.Meta(pattern=r"^(\*|[0-9A-Fa-f.:]+(/\d{1,3})?)$", description="addresses or networks like 10.0.0.0/8")
]
BusAddress = Annotated[
    str,
    msgspec.Meta(pattern=r"^((nats|tls|wss?)://)?[^/\s]+$", description="addresses like nats://nats.example.com:4222"),
]


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """See defaults.toml for what each means."""

    host: str
    port: Port
    public_url: WebAddress
    cors_origins: list[Origin]
    trusted_proxies: list[Network]
    data: str
    database_url: str
    secret_key: str
    secret_key_previous: list[str]
    nats_url: list[BusAddress]
    nats_keys: str
    nats_host: str
    nats_port: Port
    nats_public_url: list[BusAddress]
    admin_password: str
    first_password_file: str
    access_token_minutes: Annotated[int, msgspec.Meta(ge=1, le=1440)]
    refresh_token_days: Annotated[int, msgspec.Meta(ge=1, le=365)]
    ping_seconds: Annotated[float, msgspec.Meta(ge=0.05, le=3600)]
    resync_seconds: Annotated[float, msgspec.Meta(ge=0.05, le=3600)]
    local_agent_token_file: str
    local_gateway_file: str
    entity_store_days: Annotated[int, msgspec.Meta(ge=0, le=36500)]
    entity_store_mebibytes: Annotated[int, msgspec.Meta(ge=0, le=2**32)]
    allow_private_addresses: bool
    trigger_folders: list[str]
    package_index: str
    package_folder: str
    delivery_retry_seconds: list[RetrySeconds]
    dead_letter_days: Annotated[int, msgspec.Meta(ge=1, le=3650)]
    webhook_keep_days: Annotated[int, msgspec.Meta(ge=1, le=36500)]
    webhook_keep_requests: Annotated[int, msgspec.Meta(ge=1, le=10**9)]
    web_trigger_seconds: Annotated[float, msgspec.Meta(gt=0, le=3600)]
    engine: Literal["embedded", "external"]
    purge_after_days: Annotated[int, msgspec.Meta(ge=0, le=3650)]
    grace_seconds: Annotated[int, msgspec.Meta(ge=0, le=300)]
    log_format: Literal["auto", "json", "console"]
    log_level: Literal["debug", "info", "warning", "error"]

    @property
    def folder(self) -> Path:
        """Where everything is kept."""
        return Path(self.data).expanduser().absolute() if self.data else default_data_folder()

    @property
    def address(self) -> str:
        """Where people and agents reach the server."""
        return self.public_url.rstrip("/") or f"http://{bracketed(self.host)}:{self.port}"

    @property
    def store_address(self) -> str:
        return self.database_url or f"sqlite:///{self.folder / 'penstock.db'}"


def default_data_folder() -> Path:
    """`.penstock` in the working directory."""
    return Path.cwd() / ".penstock"


def server_settings(environment: Mapping[str, str]) -> ServerSettings:
    """Reads the settings. Raises Invalid naming every unknown or bad one."""
    defaults = (files("penstock.server") / "defaults.toml").read_text()
    return read_settings(ServerSettings, defaults, environment, PREFIX, ELSEWHERE)
