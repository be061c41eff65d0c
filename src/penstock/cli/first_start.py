"""What the first start of an installation has to do, until it is done.

The server keeps the first Admin's password in a file, for the owner's eyes only, until it has been shown: a start
that is broken off must not lose it.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class FirstStart:
    """folder: of the data."""

    folder: Path

    @property
    def password_file(self) -> Path:
        """Where the server writes the password that it makes for the first Admin."""
        return self.folder / "first-password"

    @property
    def pending(self) -> bool:
        """Whether nobody was shown the way in yet, or a password waits to be shown."""
        return not self._done.exists() or self.password_file.exists()

    def finish(self) -> None:
        """Forgets the password; the next start is not the first one any more."""
        self._done.touch()
        self.password_file.unlink(missing_ok=True)

    @property
    def _done(self) -> Path:
        return self.folder / "first-start-done"
