"""Both engines run all flows once for a whole session, however many workers test what came out."""

import asyncio
import fcntl
import os
from pathlib import Path

import msgspec
import pytest

from tests.camel.installed import engines
from tests.differential.camel_side import camel_settings, run_on_camel
from tests.differential.case import cases
from tests.differential.collector import collector
from tests.differential.native_side import run_natively
from tests.differential.outcome import Outcome
from tests.differential.shop import make_shop

__all__ = ["engines"]


class Outcomes(msgspec.Struct):
    """camel: a text says why a flow, or none at all, ran on Camel."""

    native: dict[str, Outcome | str]
    camel: dict[str, Outcome | str]


@pytest.fixture(scope="session")
def outcomes(engines: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """What all flows did on both engines. The first worker that comes makes it, the others read it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made = shared / "differential.json"
    with (shared / "differential.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            made.write_bytes(msgspec.json.encode(asyncio.run(_run_both(shared / "differential", engines))))
    return msgspec.json.decode(made.read_bytes(), type=Outcomes)


async def _run_both(folder: Path, engines: Path) -> Outcomes:
    async with collector() as address:
        values = {"COLLECTOR": address, "datasource.shop": make_shop(folder / "native" / "shop")}
        native = await run_natively(cases(), folder / "native", values)
    async with collector() as address:
        values = {"COLLECTOR": address, "datasource.shop": make_shop(folder / "camel" / "shop")}
        camel = await run_on_camel(cases(), folder / "camel", values, camel_settings(engines / "agent", engines))
    return Outcomes(native, camel)
