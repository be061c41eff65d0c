"""Fixtures that every kind of test shares."""

from collections.abc import AsyncIterator

import pytest

from tests.application import Application, running_application


@pytest.fixture(scope="session")
async def application(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """One running application for the whole session; tests use names of their own."""
    async with running_application(tmp_path_factory.mktemp("application")) as running:
        yield running
