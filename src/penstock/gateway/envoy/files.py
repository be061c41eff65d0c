"""The files that Envoy watches: each is written whole beside its place and moved in."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from penstock.kernel.private_file import write_private


class WatchedFiles:
    """In a folder that only its owner may enter."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamps: dict[str, str] = {}

    def put(self, name: str, resources: list[Any]) -> str:
        """Writes a file unless it says the same already. The stamp is what Envoy calls its version."""
        body = msgspec.json.encode(resources)
        stamp = hashlib.sha256(body).hexdigest()[:16]
        if self._stamps.get(name) != stamp:
            document = {"version_info": stamp, "resources": msgspec.Raw(body)}
            write_private(self._folder / name, msgspec.json.encode(document))
            self._stamps[name] = stamp
        return stamp

    def put_all(self, files: Mapping[str, list[Any]]) -> dict[str, str]:
        """The stamps by file."""
        return {name: self.put(name, resources) for name, resources in files.items()}
