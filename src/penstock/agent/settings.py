"""The settings of an agent."""

import platform
from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Meta, Struct

from penstock.apihost.trust import TrustedProxies
from penstock.flow.commands.command import AGENT_MARKER
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import ALLOWED, name_errors
from penstock.kernel.settings import read_settings

PREFIX = "PENSTOCK_AGENT_"

DEFAULTS = """
# Where the agent keeps its identity, its work and the reports it has not delivered yet. One agent per folder.
folder = "penstock-agent"

# The address of a server, for registration and configuration; empty: the one that the agent registered with, at
# first http://127.0.0.1:8400.
server = ""

# The single-use registration token, needed on the first start only; or a file that holds it, which is waited for
# and removed once the agent is registered.
token = ""
token_file = ""

# What the agent is called; empty: the host name.
name = ""

# The pool that the agent says it belongs to.
pool = ""

# What the agent offers beside what is found on the machine, like "Environment=prod,Region=eu".
capabilities = {}

# The time zone of schedules, like "Europe/Berlin"; empty: the machine's.
timezone = ""

# The environment variables of the agent that commands see; all others stay hidden from them.
environment_pass = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"]

# What undelivered reports may take on disk, in MiB. When they take more, log lines are dropped first.
outbox_mb = 512

# Whether event sources may connect to private, loopback and link-local addresses.
# `penstock up` sets it while PENSTOCK_HOST is a loopback address.
allow_private_addresses = false

# The folders below which flows and file transfers may read and write files of this machine, separated by colons;
# relative paths of flows are below the first. Empty: none, save the folder "files" in the agent's own for flows.
local_folders = ""

# File transfers at the same time; more wait for their turn.
parallel_transfers = 8

# Where flows that begin with platform-http, and endpoints, are served over HTTP, from the first of them on. Port 0:
# nowhere. And the address at which others reach this; empty: made of host (the machine's name for 0.0.0.0) and port.
http_host = "127.0.0.1"
http_port = 8480
http_address = ""

# Who calls endpoints must send this as the header X-Endpoint-Key. Empty: nobody has to, and endpoints are served on a
# loopback address only; none: nobody has to, wherever they are served.
endpoint_key = ""

# Addresses of proxies and gateways whose word on who calls endpoints counts, like 10.0.0.0/8.
trusted_proxies = []

# Seconds before an endpoint that failed is tried again, and between two looks at its health.
endpoint_retry_seconds = 5.0
endpoint_probe_seconds = 10.0

# The longest body that flows read from HTTP or from a file, in MiB.
body_mb = 64

# Where engines are looked for that are installed beside Penstock, before "engines" in the agent's folder; and where
# the Java packages of flows come from: the address of a Maven registry, empty: the central one.
engine_folder = ""
maven_mirror = ""

# The memory that each flow on Apache Camel may use for its objects, in MiB.
camel_heap_mb = 256

# Where packages with event sources come from: an index; empty: the one that uv is configured to use; none: no index,
# the folder alone. And a folder with wheels, looked into as well.
package_index = ""
package_folder = ""

# Whether the agent ends when the process that started it does.
with_parent = false

# How the agent's own log is written (json or console), and from which level on.
log_format = "json"
log_level = "info"
"""


class AgentSettings(Struct, frozen=True):
    """What `DEFAULTS` explains. timezone: hashable, as cron needs it. The token is not shown."""

    folder: Annotated[str, Meta(min_length=1)]
    server: Annotated[
        str, Meta(pattern="^(https?://[^/].*)?$", description="an address like https://penstock.example.com")
    ]
    token: str
    token_file: str
    name: str
    pool: str
    capabilities: dict[str, str]
    timezone: str
    environment_pass: list[str]
    outbox_mb: Annotated[int, Meta(ge=1)]
    allow_private_addresses: bool
    local_folders: str
    parallel_transfers: Annotated[int, Meta(ge=1, le=64)]
    http_host: Annotated[str, Meta(min_length=1)]
    http_port: Annotated[int, Meta(ge=0, le=65_535)]
    http_address: Annotated[
        str, Meta(pattern="^(https?://[^/].*)?$", description="an address like https://agent.example.com")
    ]
    endpoint_key: str
    trusted_proxies: list[str]
    endpoint_retry_seconds: Annotated[float, Meta(ge=0, le=3600)]
    endpoint_probe_seconds: Annotated[float, Meta(ge=0.05, le=3600)]
    body_mb: Annotated[int, Meta(ge=1, le=2048)]
    engine_folder: str
    maven_mirror: str
    camel_heap_mb: Annotated[int, Meta(ge=32)]
    package_index: str
    package_folder: str
    with_parent: bool
    log_format: Literal["json", "console"]
    log_level: Literal["debug", "info", "warning", "error"]

    def __repr__(self) -> str:
        return f"AgentSettings(name={self.name!r}, folder={self.folder!r}, server={self.server!r})"

    @property
    def zone(self) -> tzinfo:
        return ZoneInfo(self.timezone)

    @property
    def folders(self) -> list[Path]:
        """What `local_folders` lists."""
        return [Path(folder) for folder in self.local_folders.split(":") if folder]


def read_agent_settings(environment: Mapping[str, str]) -> AgentSettings:
    """The settings with the machine's name and time zone where none is given. Raises Invalid, naming each setting."""
    given, errors = _given(environment)
    settings = AgentSettings(
        **{
            **{field: getattr(given, field) for field in given.__struct_fields__},
            "name": given.name or platform.node() or "agent",
            "timezone": given.timezone or machine_timezone(environment),
            "server": given.server.rstrip("/"),
        }
    )
    errors += _errors(settings)
    if errors:
        raise Invalid(errors)
    return settings


def _given(environment: Mapping[str, str]) -> tuple[AgentSettings, list[FieldError]]:
    """The settings without those that cannot be read, and what is wrong with these."""

    def read(names: Mapping[str, str]) -> AgentSettings:
        return read_settings(AgentSettings, DEFAULTS, names, PREFIX, known_elsewhere={AGENT_MARKER})

    try:
        return read(environment), []
    except Invalid as error:
        bad = {each.field for each in error.errors}
        good = {name: value for name, value in environment.items() if name not in bad}
        return read(good), list(error.errors)


def machine_timezone(environment: Mapping[str, str], root: Path = Path("/")) -> str:
    """The machine's time zone by name; UTC when it does not tell one that is known."""
    candidates = [environment.get("TZ", "").lstrip(":")]
    localtime = root / "etc/localtime"
    if localtime.is_symlink():
        candidates.append(str(localtime.readlink()).rpartition("zoneinfo/")[2])
    timezone = root / "etc/timezone"
    if timezone.is_file():
        candidates.append(timezone.read_text().strip())
    return next((name for name in candidates if name and _is_zone(name)), "UTC")


def _errors(settings: AgentSettings) -> list[FieldError]:
    errors = []
    if name_errors("", settings.name):
        errors.append(FieldError(PREFIX + "NAME", ALLOWED))
    if not _is_zone(settings.timezone):
        errors.append(FieldError(PREFIX + "TIMEZONE", "must be a time zone like 'Europe/Berlin' or 'UTC'"))
    if settings.token and settings.token_file:
        errors.append(FieldError(PREFIX + "TOKEN_FILE", f"must not be set beside {PREFIX}TOKEN"))
    try:
        TrustedProxies(settings.trusted_proxies, PREFIX + "TRUSTED_PROXIES")
    except Invalid as error:
        errors += error.errors
    return errors


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
