"""Who may call endpoints."""

import hmac
import ipaddress

from penstock.kernel.errors import Forbidden

KEY_HEADER = "X-Endpoint-Key"
EVERYBODY = "none"


class Entrance:
    """On a loopback address whoever reaches it; elsewhere only who has the key, unless everybody may.

    host: that endpoints are served on. key: empty for none, `none` for everybody. setting: what the key is called.
    """

    def __init__(self, host: str, key: str, setting: str) -> None:
        self._host = host
        self._key = key if key != EVERYBODY else ""
        self._everybody = key == EVERYBODY
        self._setting = setting

    def check(self) -> None:
        """Raises Forbidden where endpoints are not served, since anybody could call them."""
        if not self._key and not self._everybody and not _is_loopback(self._host):
            raise Forbidden(
                f"endpoints are not served on {self._host}, where others could call them, until {self._setting} is set"
                f" to a key, or to '{EVERYBODY}' to let everybody"
            )

    def admits(self, key: str | None) -> bool:
        """key: as the caller sent it."""
        return not self._key or hmac.compare_digest((key or "").encode(), self._key.encode())


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
