"""What an agent offers: found on the machine, set by its operator, or added in its folder while it runs."""

import os
import platform
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

import structlog

from penstock.protocol.capability import AgentCapability, CapabilityType

_log = structlog.get_logger(__name__)

CUSTOM_FILE = "capabilities.toml"


class Capabilities:
    """The capabilities of one agent; `current` looks again, so that they may change while it runs.

    configured: by identifier. custom: a TOML file of `Identifier = "value"` lines; it need not exist.
    """

    def __init__(self, configured: Mapping[str, str], timezone: str, custom: Path) -> None:
        self._fixed = [
            *_of(system_capabilities(timezone), CapabilityType.SYSTEM),
            *_of(configured, CapabilityType.CONFIGURED),
        ]
        self._custom_file = custom
        self._custom: list[AgentCapability] = []
        self._custom_seen: tuple[int, int] | None = None

    def current(self) -> list[AgentCapability]:
        """All capabilities; of one identifier only the custom one, else the configured, else the system's."""
        self._look()
        by_identifier = {(each.identifier or "").casefold(): each for each in (*self._fixed, *self._custom)}
        return list(by_identifier.values())

    def _look(self) -> None:
        try:
            status = self._custom_file.stat()
        except FileNotFoundError:
            self._custom, self._custom_seen = [], None
            return
        seen = (status.st_mtime_ns, status.st_size)
        if seen == self._custom_seen:
            return
        self._custom_seen = seen
        try:
            values = tomllib.loads(self._custom_file.read_text())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            _log.error("custom capabilities cannot be read, the ones before stay", reason=str(error))
            return
        self._custom = list(_of({name: str(value) for name, value in values.items()}, CapabilityType.CUSTOM))


def system_capabilities(timezone: str) -> dict[str, str]:
    """What the machine is, by identifier."""
    return {
        "OS": platform.system(),
        "OSVersion": platform.release(),
        "Architecture": platform.machine(),
        "HostName": platform.node(),
        "Cpus": str(len(os.sched_getaffinity(0))),
        "PythonVersion": platform.python_version(),
        "PenstockVersion": version("penstock"),
        "TimeZone": timezone,
    }


def _of(values: Mapping[str, str], kind: CapabilityType) -> Iterable[AgentCapability]:
    return (
        AgentCapability(
            identifier=identifier,
            value=value,
            is_custom=kind is CapabilityType.CUSTOM,
            capability_type=kind,
        )
        for identifier, value in values.items()
    )
