"""Terminals of somebody unknown and of the Admin, before the real application."""

from pathlib import Path
from uuid import uuid4

import pytest

from tests.application import ADMIN_PASSWORD, Application
from tests.program import Terminal


@pytest.fixture
def stranger(application: Application, tmp_path: Path) -> Terminal:
    """A terminal where nobody has signed in."""
    return Terminal(tmp_path, application.address)


@pytest.fixture
async def admin(stranger: Terminal) -> Terminal:
    """A terminal where the Admin has signed in."""
    ended = await stranger.run("login", "--username", "admin", "--password-stdin", given=ADMIN_PASSWORD)
    assert ended.code == 0, ended.err
    return stranger


@pytest.fixture
def name() -> str:
    return f"t-{uuid4().hex}"
