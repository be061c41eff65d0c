"""What a Camel engine is told of the place where it runs."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import msgspec


class CamelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """folder: for what runs. engines: folders in which Camel may be installed. mirror: registry of packages.

    working_folder: where flows run, as relative names of files count from there; None for a folder of their own.
    zone: name of the time zone of wall-clock times. heap_mb: of each process. environment: what each process sees,
    the agent's marker among it. own_environment: the agent's, in which Java and the way to the registry are found.
    start_timeout: how long a flow may take to start.
    parallel_starts: more wait for their turn. grace: for exchanges in flight when the engine ends.
    """

    folder: Path
    engines: tuple[Path, ...]
    mirror: str = ""
    working_folder: Path | None = None
    zone: str = "UTC"
    heap_mb: int = 256
    environment: Mapping[str, str] = {}
    own_environment: Mapping[str, str] = {}
    start_timeout: timedelta = timedelta(seconds=90)
    parallel_starts: int = 2
    grace: timedelta = timedelta(seconds=5)
