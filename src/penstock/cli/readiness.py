"""Whether the server is ready, and what it waits for."""

import json
import socket
from collections.abc import Callable

_SECONDS = 1.0
# HTTP/1.0: the answer is whole when the server closes. An HTTP library would take a quarter of our memory.
_REQUEST = b"GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n"


class Readiness:
    """Asks `/readyz`. Tells what is missing whenever that changes."""

    def __init__(self, host: str, port: int, tell: Callable[[str], None]) -> None:
        self._host, self._port = host, port
        self._tell = tell
        self._last = ""

    def __call__(self) -> bool:
        missing = self._missing()
        if missing and missing != self._last:
            self._tell(f"  waiting for {missing}")
        self._last = missing
        return not missing

    def _missing(self) -> str:
        try:
            with socket.create_connection((self._host, self._port), timeout=_SECONDS) as connection:
                connection.sendall(_REQUEST)
                answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        except OSError:
            return "the server to answer"
        head, _, content = answer.partition(b"\r\n\r\n")
        return "" if head.split(b" ")[1:2] == [b"200"] else _parts(content)


def _parts(content: bytes) -> str:
    try:
        parts = json.loads(content)
        return " and ".join(f"the {name.lower()}" for name, there in parts.items() if name != "Ready" and not there)
    except (ValueError, AttributeError):
        return "the server"
