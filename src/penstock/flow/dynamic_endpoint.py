"""Endpoints whose uri is only known when an exchange comes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache

from penstock.flow.component import Producer
from penstock.flow.context import FlowContext
from penstock.flow.element import Element
from penstock.flow.exchange import Exchange
from penstock.flow.failures.errors import FlowError
from penstock.flow.parsing.builder import Builder
from penstock.flow.parsing.document import Scalar
from penstock.flow.parsing.problem import Problems
from penstock.flow.registry import registry


class NoEndpoint(FlowError):
    """A uri does not describe an endpoint."""

    code = "no-endpoint"
    title = "There is no such endpoint"
    java = (
        "org.apache.camel.ResolveEndpointFailedException",
        "org.apache.camel.RuntimeCamelException",
        "java.lang.RuntimeException",
    )


async def send_to(uri: str, exchange: Exchange, flow: FlowContext) -> None:
    """Sends the exchange to the endpoint. Raises NoEndpoint, and what the endpoint raises."""
    producer = _producer(uri)
    if type(producer).begin is not Element.begin:
        await flow.resource((_begun, uri), lambda: _begun(producer, flow))
    await producer.send(exchange, flow)


@asynccontextmanager
async def _begun(producer: Producer, flow: FlowContext) -> AsyncIterator[None]:
    await producer.begin(flow)
    yield


@lru_cache(maxsize=4096)
def _producer(uri: str) -> Producer:
    problems: Problems = []
    builder = Builder(registry(), problems, {})
    producer: Producer | None = builder.endpoint(uri, Producer, Scalar(uri, False, 1, 1), "toD")
    if problems:
        raise NoEndpoint(f"'{uri}' is no endpoint: {problems[0]}")
    if producer is None:
        names = ", ".join(sorted(builder.needed))
        raise NoEndpoint(f"'{uri}' is no endpoint: the options that {names} stands in cannot hold variables here")
    return producer
