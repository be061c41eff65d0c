"""Camel, installed for tests."""

import fcntl
import os
import tempfile
from pathlib import Path

import pytest

from penstock.flow.camel.class_archive import make_archive
from penstock.flow.camel.installer import install
from penstock.flow.camel.java import NoJava, find_java
from penstock.flow.camel.repository import FetchFailed


@pytest.fixture(scope="session")
def engines() -> Path:
    """A folder with Camel in it, kept from run to run; skips where Camel cannot be had."""
    folder = Path(tempfile.gettempdir()) / f"penstock-engines-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            java = find_java(os.environ)
            mirror = os.environ.get("PENSTOCK_AGENT_MAVEN_MIRROR", "")
            installation = install(folder, mirror, lambda done, files, size: None)
            make_archive(installation, java)  # not every Java can; then all starts take longer
        except (NoJava, FetchFailed) as error:
            pytest.skip(f"Camel cannot be had here: {error.detail}")
    return folder
