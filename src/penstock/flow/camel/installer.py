"""Installs Camel: every jar of the runtime, checked against the lock, into place all at once."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from penstock.flow.camel.installation import CamelInstallation
from penstock.flow.camel.release import locked
from penstock.flow.camel.repository import Repository
from penstock.kernel.errors import naming_files

_AT_ONCE = 4

Progress = Callable[[int, int, int], None]
"""Is told how many files are there, of how many, and their bytes."""


def install(engines: Path, mirror: str, progress: Progress) -> CamelInstallation:
    """Makes the installation below `engines`. Raises FetchFailed; what was fetched by then is used the next time."""
    installation = CamelInstallation.in_folder(engines)
    if installation.is_complete:
        return installation
    partial = CamelInstallation(engines / f".{installation.folder.name}.partial", installation.version)
    with naming_files():
        partial.repository.mkdir(parents=True, exist_ok=True)
    _fetch(partial.repository, mirror, progress)
    with naming_files():
        partial.finish()
        shutil.rmtree(installation.folder, ignore_errors=True)
        partial.folder.rename(installation.folder)
    return installation


def _fetch(folder: Path, mirror: str, progress: Progress) -> None:
    wanted = locked()
    done = size = 0
    with Repository(folder, mirror, wanted) as repository, ThreadPoolExecutor(_AT_ONCE) as threads:
        futures = [threads.submit(repository.fetch, coordinate) for coordinate in wanted]
        try:
            for future in as_completed(futures):
                done, size = done + 1, size + future.result().stat().st_size
                progress(done, len(wanted), size)
        except BaseException:
            threads.shutdown(cancel_futures=True)
            raise
