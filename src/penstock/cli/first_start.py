"""What the first start of an installation has to do, until it is done.

The first Admin's password is kept, for the owner's eyes only, until it has been shown: a start that is broken off
must not lose it.
"""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_FILE = "first-start.json"


@dataclass(frozen=True)
class FirstStart:
    """password: of the first Admin; generated: whether nobody but us knows it."""

    path: Path
    password: str
    generated: bool

    @classmethod
    def pending(cls, folder: Path, environment: Mapping[str, str]) -> "FirstStart | None":
        """What is left to do in this data folder; None when everything is done."""
        path = folder / _FILE
        given = environment.get("PENSTOCK_ADMIN_PASSWORD", "")
        begun = json.loads(path.read_text()) if path.exists() else None
        if begun is not None and begun["done"]:
            return None
        first = cls(path, given or (begun or {}).get("password", "") or secrets.token_urlsafe(15), not given)
        first._write({"done": False, "password": first.password if first.generated else ""})
        return first

    def finish(self) -> None:
        """Forgets the password; the next start is not the first one any more."""
        self._write({"done": True})

    def _write(self, content: Mapping[str, object]) -> None:
        aside = self.path.with_suffix(".new")
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(self.path)
