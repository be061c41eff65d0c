"""Fixtures of the tests of areas."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.application import Application
from tests.areas.agent_link import AgentLink, linked_agent
from tests.areas.hooks import Hook
from tests.areas.transfer_site import Site


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"n{uuid4().hex[:12]}"


@pytest.fixture
def email() -> str:
    """An address that no other test uses."""
    return f"{uuid4().hex[:12]}@example.com"


@pytest.fixture
async def link(application: Application, name: str) -> AsyncIterator[AgentLink]:
    """An agent of its own environment, which is called like `name`."""
    async with linked_agent(application, f"agent-{name}", {"Environment": name, "Region": "eu"}) as linked:
        yield linked


@pytest.fixture
async def site(application: Application, tmp_path: Path, name: str) -> AsyncIterator[Site]:
    site = Site(application, tmp_path, name)
    await site.start()
    try:
        yield site
    finally:
        await site.end()


@pytest.fixture
def hook(application: Application) -> Hook:
    return Hook(application)
