"""Whether the server is ready, and what it waits for."""

import http.client
import json
from collections.abc import Callable
from urllib.parse import urlsplit

_SECONDS = 1.0


class Readiness:
    """Asks `/readyz`. Tells what is missing whenever that changes."""

    def __init__(self, address: str, tell: Callable[[str], None]) -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._tell = tell
        self._last = ""

    def __call__(self) -> bool:
        missing = self._missing()
        if missing and missing != self._last:
            self._tell(f"  waiting for {missing}")
        self._last = missing
        return not missing

    def _missing(self) -> str:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=_SECONDS)
        try:
            connection.request("GET", "/readyz")
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            return "the server to answer"
        finally:
            connection.close()
        return "" if answer.status == http.client.OK else _parts(content)


def _parts(content: bytes) -> str:
    try:
        parts = json.loads(content)
        return " and ".join(f"the {name.lower()}" for name, there in parts.items() if name != "Ready" and not there)
    except (ValueError, AttributeError):
        return "the server"
