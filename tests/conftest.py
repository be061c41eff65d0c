"""Fixtures that every kind of test shares."""

from collections.abc import AsyncIterator

import pytest

from penstock.server.log import set_up_logs
from tests.application import Application, running_application
from tests.postgres import own_postgres_server, postgres_server, postgres_url

__all__ = ["own_postgres_server", "postgres_server", "postgres_url"]


@pytest.fixture(scope="session", autouse=True)
def quiet_logs() -> None:
    """Failing tests show warnings and errors, not every request."""
    set_up_logs("console", "warning")


@pytest.fixture(scope="session")
async def application(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """One running application for the whole session; tests use names of their own."""
    folder = tmp_path_factory.mktemp("application")
    # On a busy machine the tests of one worker take longer than a token holds.
    async with running_application(folder, PENSTOCK_ACCESS_TOKEN_MINUTES="1440") as running:
        yield running
