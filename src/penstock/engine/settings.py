"""Settings of the engine: the commented file of defaults beside this module, the environment over it."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Literal

import msgspec

from penstock.kernel.settings import read_settings

PREFIX = "PENSTOCK_ENGINE_"
_MEBIBYTE = 1 << 20

Count = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
Mebibytes = Annotated[int, msgspec.Meta(ge=1, le=2**20)]


class EngineSettings(msgspec.Struct, frozen=True, kw_only=True):
    """See defaults.toml for what each means."""

    runs: Count
    waiting: Annotated[int, msgspec.Meta(ge=0, le=100_000)]
    pool: Annotated[int, msgspec.Meta(ge=0, le=1000)]
    notebooks: Count
    idle_minutes: Annotated[float, msgspec.Meta(gt=0, le=10_080)]
    run_seconds: Annotated[float, msgspec.Meta(gt=0, le=86_400)]
    memory_mebibytes: Annotated[int, msgspec.Meta(ge=192, le=2**20)]
    processes: Annotated[int, msgspec.Meta(ge=24, le=100_000)]
    output_mebibytes: Annotated[int, msgspec.Meta(ge=1, le=256)]
    file_mebibytes: Annotated[int, msgspec.Meta(ge=0, le=1024)]
    disk_mebibytes: Mebibytes
    network: bool
    isolation: Literal["auto", "bubblewrap", "limits"]
    python: str
    readable: list[str]
    folder: str
    nats_url: list[str]
    credentials: str
    log_format: Literal["auto", "json", "console"]
    log_level: Literal["debug", "info", "warning", "error"]

    @property
    def memory(self) -> int:
        """Bytes."""
        return self.memory_mebibytes * _MEBIBYTE

    @property
    def output(self) -> int:
        """Bytes."""
        return self.output_mebibytes * _MEBIBYTE

    @property
    def files(self) -> int:
        """Bytes."""
        return self.file_mebibytes * _MEBIBYTE

    @property
    def disk(self) -> int:
        """Bytes."""
        return self.disk_mebibytes * _MEBIBYTE


def engine_settings(environment: Mapping[str, str]) -> EngineSettings:
    """Reads the settings; names without the prefix are others'. Raises Invalid naming every unknown or bad one."""
    defaults = (files("penstock.engine") / "defaults.toml").read_text()
    return read_settings(EngineSettings, defaults, environment, PREFIX)
