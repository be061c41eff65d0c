"""Settings of a gateway: the commented file of defaults beside this module, the environment over it."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from penstock.kernel.settings import read_settings

PREFIX = "PENSTOCK_GATEWAY_"

Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class GatewaySettings(msgspec.Struct, frozen=True, kw_only=True):
    """See defaults.toml for what each means."""

    host: str
    port: Port
    folder: str
    nats_url: list[str]
    credentials: str
    link_file: str
    tls_certificate: str
    tls_key: str
    trusted_proxies: Annotated[int, msgspec.Meta(ge=0, le=16)]
    connections: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    envoy: str
    workers: Annotated[int, msgspec.Meta(ge=0, le=256)]
    memory_mebibytes: Annotated[int, msgspec.Meta(ge=128, le=2**20)]
    proxy: str
    authorities: str
    allow_private_addresses: bool
    calls_per_second: Annotated[int, msgspec.Meta(ge=0, le=1000)]
    log_format: Literal["auto", "json", "console"]
    log_level: Literal["debug", "info", "warning", "error"]

    @property
    def path(self) -> Path:
        """Where everything is kept."""
        return Path(self.folder).expanduser().absolute()


def gateway_settings(environment: Mapping[str, str]) -> GatewaySettings:
    """Reads the settings; names without the prefix are others'. Raises Invalid naming every unknown or bad one."""
    defaults = (files("penstock.gateway") / "defaults.toml").read_text()
    return read_settings(GatewaySettings, defaults, environment, PREFIX)
