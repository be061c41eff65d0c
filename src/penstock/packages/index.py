"""Where packages come from."""

from collections.abc import Mapping
from dataclasses import dataclass

_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "NETRC", "XDG_CACHE_HOME")
_PASSED_CASELESS = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@dataclass(frozen=True)
class PackageIndex:
    """An index and a folder of wheels; either may be left out.

    url: of the index; empty: what uv is configured to use; `none`: no index, the folder alone. folder: with wheels.
    environment: of the installing program; only what it needs to reach the index is taken from it.
    """

    url: str = ""
    folder: str = ""
    environment: Mapping[str, str] | None = None

    @property
    def options(self) -> list[str]:
        """For `uv pip install`."""
        index = ["--no-index"] if self.url == "none" else ["--default-index", self.url] if self.url else []
        return [*index, *(["--find-links", self.folder] if self.folder else [])]

    @property
    def variables(self) -> dict[str, str]:
        """The environment of uv; packages never see it."""
        given = self.environment or {}
        return {
            name: value
            for name, value in given.items()
            if name in _PASSED or name.startswith("UV_") or name.lower() in _PASSED_CASELESS
        }
