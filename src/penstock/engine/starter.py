"""Starts kernels."""

import asyncio
import os
import secrets
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import zmq.asyncio

from penstock.engine.channels import Channels
from penstock.engine.folders import CONNECTION_FILE, KernelFolders, make_folders
from penstock.engine.isolation import KERNEL_MAIN, Isolation
from penstock.engine.kernel import ENGINE_MARKER, MARKER, Kernel, programs
from penstock.engine.languages import Language
from penstock.engine.output import Output
from penstock.flow.commands.guard import Guard
from penstock.kernel.errors import Unavailable
from penstock.kernel.ids import new_short_id
from penstock.kernel.parent import asked_to_end_with
from penstock.kernel.run_folder import RunFolder

_READY_SECONDS = 60.0
_SOCKETS = ("shell", "iopub", "stdin", "control", "hb")
_AT_ONCE = max(2, os.cpu_count() or 1)
_SPARE = 1 << 20
# The first reads the builtins, which takes seconds without the cache.
_WARM_UP = ("pri", "import os\nos.pat", "import json\njson.du", "import re\nre.comp", "'a'.upp", "[].app", "{}.it")


class KernelStarter:
    """parent: a folder with a short path for kernels' folders. cache: of completion, see `warm_up`."""

    def __init__(self, isolation: Isolation, parent: Path, cache: Path) -> None:
        self._isolation = isolation
        self._settings = isolation.settings
        self._parent = parent
        self._cache = cache
        self._context = zmq.asyncio.Context()
        self._numbers = count(1)
        self._turns = asyncio.Semaphore(_AT_ONCE)
        # Whoever dies with the engine carries this in its environment, see `guard`.
        self._marker = new_short_id()

    def guard(self) -> Guard:
        """Ends kernels that outlive this process, where they have no namespace that does."""
        return Guard(ENGINE_MARKER, self._marker)

    async def start(self, language: Language, *, warm: Path | None = None) -> Kernel:
        """A kernel that answers. warm: the cache that it is to fill. Raises KernelLost, Unavailable."""
        async with self._turns:
            number = next(self._numbers)
            inside = self._isolation.has_view
            folders = make_folders(self._parent, str(number), self._isolation.user(number), inside=inside)
            connection = _write_connection(folders)
            if warm is not None and folders.uid:
                os.chown(warm, folders.uid, folders.uid)
            kernel = await self._launch(language, folders, connection, warm)
            try:
                await kernel.ready(_READY_SECONDS)
                await kernel.execute("", _ignore, silent=True)  # the first time takes longer
            except BaseException:
                await kernel.close()
                raise
            return kernel

    async def warm_up(self, language: Language) -> bool:
        """Fills the cache of completion, in a kernel that runs nobody's code. Whether it was to be filled.

        Kernels that have started before do without it. Raises KernelLost, Unavailable.
        """
        if self._cache.exists():
            return False
        with RunFolder(self._cache.parent, "filling-") as folder:
            folder.path.chmod(0o711)  # the kernel's user passes through
            filled = folder.path / self._cache.name
            filled.mkdir()
            kernel = await self.start(language, warm=filled)
            try:
                for code in _WARM_UP:
                    await kernel.ask("complete_request", {"code": code, "cursor_pos": len(code)})
            finally:
                await kernel.close()
            await asyncio.to_thread(_publish, filled, self._cache)
        return True

    def close(self) -> None:
        self._context.destroy(linger=0)

    async def _launch(
        self, language: Language, folders: KernelFolders, connection: dict[str, Any], warm: Path | None
    ) -> Kernel:
        isolation, settings = self._isolation, self._settings
        limits = {
            "uid": folders.uid,
            "memory": settings.memory,
            "processes": settings.processes,
            "file_size": settings.disk,
            "message": settings.output,
            "with_parent": not folders.inside,
            "folder": str(folders.seen_work),
        }
        seen = str(folders.seen_sockets / CONNECTION_FILE)
        program = programs(language, isolation.python, str(KERNEL_MAIN), seen, msgspec.json.encode(limits).decode())
        markers = {MARKER: new_short_id(), ENGINE_MARKER: self._marker}
        cache = warm or (self._cache if self._cache.exists() else None)
        try:
            with isolation.command(folders, program, cache, warming=warm is not None) as command:
                process = await asyncio.create_subprocess_exec(
                    *command.line,
                    env={**language.environment, **isolation.environment(folders, cache), **markers},
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.DEVNULL,
                    stderr=asyncio.subprocess.PIPE,
                    pass_fds=command.handles,
                    start_new_session=True,
                    preexec_fn=asked_to_end_with(os.getpid()),  # bubblewrap asks as well, a moment too late
                )
        except OSError as error:
            raise Unavailable(f"the kernel {language.name} cannot be started: {error}") from None
        near = {**connection, "ip": str(folders.sockets / "k")}
        channels = Channels(self._context, near, 2 * settings.output + _SPARE)
        return Kernel(language, process, channels, folders, markers[MARKER])


def _ignore(output: Output) -> None:
    """There is none."""


def _publish(filled: Path, cache: Path) -> None:
    """Makes the cache everybody's to read and nobody's to write; of two that were filled at once, one stays."""
    for path in (filled, *filled.rglob("*")):
        os.chown(path, os.geteuid(), os.getegid())
        path.chmod(0o755 if path.is_dir() else 0o644)
    with suppress(FileExistsError):
        filled.rename(cache)


def _write_connection(folders: KernelFolders) -> dict[str, Any]:
    connection: dict[str, Any] = {
        "transport": "ipc",
        "ip": str(folders.seen_sockets / "k"),
        "key": secrets.token_hex(16),
        "signature_scheme": "hmac-sha256",
        "kernel_name": "",
        **{f"{name}_port": number for number, name in enumerate(_SOCKETS, start=1)},
    }
    for number in range(1, len(_SOCKETS) + 1):
        # Some kernels put a colon where Jupyter puts a dash; the others take the place of the link.
        (folders.sockets / f"k-{number}").symlink_to(f"k:{number}")
    path = folders.sockets / CONNECTION_FILE
    path.touch(mode=0o600)
    path.write_bytes(msgspec.json.encode(connection))
    if folders.uid:
        os.chown(path, folders.uid, folders.uid)
    return connection
