"""Sessions of signed-in users, kept in a file of theirs.

The refresh token changes with every use, so processes that share the file take turns at renewing it.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec


class Session(msgspec.Struct, frozen=True):
    """A signed-in user at one server."""

    username: str
    token: str
    refresh_token: str

    def __repr__(self) -> str:
        return f"Session({self.username})"


def configuration_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The user's folder for Penstock: `$XDG_CONFIG_HOME/penstock`, else `~/.config/penstock`."""
    base = environment.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base else Path.home() / ".config") / "penstock"


class SessionFile:
    """The sessions by server address; file and folder are the user's only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "sessions.json"

    def get(self, address: str) -> Session | None:
        return self._read().get(address)

    def put(self, address: str, session: Session) -> None:
        """Keeps the session. Call it within `locked` when the session replaces one."""
        self._write({**self._read(), address: session})

    def remove(self, address: str) -> None:
        self._write({known: session for known, session in self._read().items() if known != address})

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes from renewing meanwhile."""
        self._make_folder()
        with (self._folder / "sessions.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _make_folder(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _read(self) -> dict[str, Session]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, Session])
        except (FileNotFoundError, msgspec.DecodeError):  # damaged: the user signs in again
            return {}

    def _write(self, sessions: Mapping[str, Session]) -> None:
        self._make_folder()
        descriptor, aside = tempfile.mkstemp(dir=self._folder, prefix="sessions-")  # mkstemp makes it 0600
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(sessions), indent=2))
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, self._path)
