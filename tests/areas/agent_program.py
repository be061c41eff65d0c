"""A real agent beside a real application."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.application import Application


async def pending_token(application: Application) -> str:
    return str((await application.admin.post("/agents/create", json="")).json()["Token"])


@asynccontextmanager
async def agent_program(
    application: Application, folder: Path, token: str, name: str, **settings: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The program, with the capability Environment of its name, in UTC. settings: without their prefix."""
    whole = {
        "FOLDER": str(folder),
        "SERVER": application.address,
        "TOKEN": token,
        "NAME": name,
        "CAPABILITIES": f"Environment={name}",
        "TIMEZONE": "UTC",
        **settings,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "penstock.agent",
        env={**os.environ, **{f"PENSTOCK_AGENT_{key}": value for key, value in whole.items()}},
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
