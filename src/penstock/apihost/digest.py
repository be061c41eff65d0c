"""What was installed of a package, as one digest that is the same wherever the same files were installed."""

import csv
import hashlib
from importlib.metadata import Distribution

# Written by the installer, or made for the environment, and so not the package's own.
_INSTALLERS = ("INSTALLER", "REQUESTED", "RECORD", "direct_url.json", "uv_build.json", "uv_cache.json")


def digest_of(distribution: Distribution) -> str:
    """`sha256:` over the names and hashes of the package's files, as its RECORD lists them."""
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    lines = sorted(f"{row[0]} {row[1]}" for row in rows if len(row) > 1 and _is_own(row[0]))
    return f"sha256:{hashlib.sha256(chr(10).join(lines).encode()).hexdigest()}"


def is_pure(distribution: Distribution) -> bool:
    """Whether the files are the same on every kind of machine."""
    return "root-is-purelib: true" in (distribution.read_text("WHEEL") or "").lower()


def _is_own(path: str) -> bool:
    return not path.startswith("../") and not path.endswith(".pyc") and path.rpartition("/")[2] not in _INSTALLERS
