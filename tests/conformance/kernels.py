"""A running engine for tests, and what its runs show."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from penstock.engine.engine import Engine, open_engine
from penstock.engine.isolation import find_isolation
from penstock.engine.message import Made, RunRequest
from penstock.engine.output import ERROR, TEXT
from penstock.engine.result import Results
from penstock.engine.settings import EngineSettings, engine_settings
from penstock.kernel.ids import new_id


class Shown(Results):
    """What a run showed."""

    @property
    def text(self) -> str:
        """All texts together."""
        return "".join(str(output.data.get(TEXT, "")) for output in self.outputs)

    @property
    def value(self) -> Any:
        """The result that answers, as a value of JSON or a text."""
        output = [output for output in self.outputs if output.kind == "result"][-1]
        return output.data.get("application/json", output.data.get(TEXT))

    @property
    def failure(self) -> str:
        """Name of the error that ended the run."""
        told: Mapping[str, str] = self.outputs[-1].data[ERROR]
        return told["name"]

    @property
    def made(self) -> dict[str, Made]:
        return {file.name: file for file in self.files}


async def run(engine: Engine, document: str, **options: Any) -> Shown:
    """Runs a document; see RunRequest for the options."""
    shown = Shown()
    async with asyncio.timeout(60):
        await engine.run(RunRequest(id=str(new_id()), document=document, **options), shown.take)
    return shown


def settings_for(folder: Path, **others: str) -> EngineSettings:
    """Small limits, so that tests reach them. others: settings by the rest of their names."""
    environment = {
        "FOLDER": str(folder),
        "POOL": "1",
        "RUNS": "4",
        "NOTEBOOKS": "3",
        "RUN_SECONDS": "20",
        "MEMORY_MEBIBYTES": "320",
        "PROCESSES": "64",
        "OUTPUT_MEBIBYTES": "1",
        "FILE_MEBIBYTES": "1",
        "DISK_MEBIBYTES": "24",
        **others,
    }
    return engine_settings({f"PENSTOCK_ENGINE_{name}": value for name, value in environment.items()})


@asynccontextmanager
async def running_engine(folder: Path, **others: str) -> AsyncIterator[Engine]:
    """An engine that is kept apart as well as this machine can."""
    async with open_engine(find_isolation(settings_for(folder, **others))) as engine:
        yield engine
