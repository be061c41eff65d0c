"""System information: build, machine, and the request as it arrived."""

import re
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import penstock
from penstock.areas.system.model import SystemInfo
from penstock.resource.call import Call

MASK = "********"
_SECRET = re.compile(r"auth|cookie|token|secret|key|passw|credential|session|signature|jwt|cert", re.IGNORECASE)


class SystemInformation:
    """Answers what operators look for when a request does not arrive as they expect."""

    def __init__(self) -> None:
        self._version = version("penstock")
        self._date = datetime.fromtimestamp(Path(penstock.__file__).stat().st_mtime, UTC)

    def of(self, call: Call) -> SystemInfo:
        return SystemInfo(
            build_date=self._date,
            build_version=self._version,
            host_name=socket.gethostname(),
            method=call.method,
            headers=masked_headers(call.headers),
            scheme=call.scheme,
            protocol=call.protocol,
            is_https=call.scheme == "https",
            request_network=call.client,
        )


def masked_headers(headers: Mapping[str, str]) -> list[str]:
    """`name: value` for each, sorted; the value masked where the name says that it may be a secret."""
    return [f"{name}: {MASK if _SECRET.search(name) else value}" for name, value in sorted(headers.items())]
