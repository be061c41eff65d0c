"""One `penstock up` per data folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from penstock.kernel.ownership import exposure


@contextmanager
def folder_lock(folder: Path, address: str) -> Iterator[None]:
    """Holds the folder until the context, or the process, ends.

    Raises click.ClickException when another holds it, or others could change what it holds.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if problem := exposure(folder.stat(), os.geteuid()):
            raise click.ClickException(f"the data folder {folder} {problem}.")
        lock = (folder / "up.lock").open("a+")
    except OSError as error:
        raise click.ClickException(f"the data folder {folder} cannot be used: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "another `penstock up`"
            raise click.ClickException(
                f"{holder} runs on the data folder {folder} already.\n"
                "Stop it first, or choose another folder and port with PENSTOCK_DATA and PENSTOCK_PORT."
            ) from None
        lock.truncate(0)
        lock.write(f"Process {os.getpid()} at {address}\n")
        lock.flush()
        yield
        lock.truncate(0)
