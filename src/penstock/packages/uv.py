"""uv, which makes environments and installs packages into them."""

import asyncio
import os
import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

import uv

from penstock.kernel.errors import PenstockError

_SECONDS = 300.0
_KEPT = 4000  # characters of what uv says
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


class InstallFailed(PenstockError):
    """The package cannot be installed; the text says why, in uv's words."""

    code = "install-failed"
    title = "The package cannot be installed"


async def run_uv(arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Runs uv in a folder to its end; answers what it wrote. Raises InstallFailed. It ends with the caller's task."""
    try:
        process = await asyncio.create_subprocess_exec(
            uv.find_uv_bin(),
            *arguments,
            "--no-progress",
            "--color",
            "never",
            cwd=folder,
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise InstallFailed("uv, which installs packages, is not installed here") from None
    try:
        async with asyncio.timeout(_SECONDS):
            output, _ = await process.communicate()
    except TimeoutError:
        raise InstallFailed(f"the installation took more than {_SECONDS:g} seconds") from None
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    text = _CREDENTIALS.sub("", output.decode(errors="replace")).strip()
    if process.returncode != 0:
        raise InstallFailed(_told(text) or f"uv ends with {process.returncode}")
    return text


def _told(text: str) -> str:
    """What uv says as plain lines, without its drawing."""
    lines = (re.sub(r"^[^\w'\"`(]+", "", line) for line in text.splitlines())
    return " ".join(line for line in lines if line)[:_KEPT]
