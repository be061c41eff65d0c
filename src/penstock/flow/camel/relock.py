"""Renews `runtime.lock` from a registry: `python -m penstock.flow.camel.relock [MIRROR]`."""

import hashlib
import sys
import tempfile
from pathlib import Path

from penstock.flow.camel.release import ROOTS, VERSION
from penstock.flow.camel.repository import Repository

_HEAD = f"# Apache Camel {VERSION}: every file of the runtime, with its SHA-256. Written by relock.py.\n"


def lock(mirror: str) -> str:
    """The lock's text."""
    with tempfile.TemporaryDirectory() as folder, Repository(Path(folder), mirror) as repository:
        lines = [
            f"{coordinate} {hashlib.sha256(repository.fetch(coordinate).read_bytes()).hexdigest()}\n"
            for coordinate in repository.resolve(ROOTS)
        ]
    return _HEAD + "".join(lines)


if __name__ == "__main__":
    text = lock(sys.argv[1] if len(sys.argv) > 1 else "")
    Path(__file__).with_name("runtime.lock").write_text(text)
