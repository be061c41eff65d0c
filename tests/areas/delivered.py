"""A channel of a test and the sink that it delivers to."""

from collections.abc import AsyncIterator

import pytest

from tests.application import Application
from tests.areas.event_channels import TestChannel
from tests.http_sink import HttpSink, http_sink


@pytest.fixture
async def sink() -> AsyncIterator[HttpSink]:
    async with http_sink() as running:
        yield running


@pytest.fixture
async def channel(application: Application) -> AsyncIterator[TestChannel]:
    made = TestChannel(application)
    yield made
    await made.remove()
