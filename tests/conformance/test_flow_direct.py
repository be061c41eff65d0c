"""`direct`: routes of a flow that call each other."""

import pytest

from penstock.flow.context import NoConsumer
from tests.conformance.flow_sources import once, route
from tests.conformance.running_engine import running_engine


async def test_a_route_calls_another_and_goes_on_with_what_that_makes_of_the_exchange() -> None:
    async with running_engine() as running:
        called = route("direct:shout", "setBody: {simple: '${body}!'}", "setHeader: {name: loud, constant: 'yes'}")
        await running.start("caller", once("to: direct:shout", "log: '${body} ${header.loud}'", body="hi") + called)
        await running.settled("caller")
        assert running.listener.messages == ["hi! yes"]
        assert running.engine.status("caller").statistics.exchanges_total == 1


async def test_what_the_called_route_fails_with_is_the_callers_failure() -> None:
    async with running_engine() as running:
        called = route("direct:bad", "to: 'exec:sh?exitValues=0&args=-c \"exit 3\"'")
        await running.start("caller", once("to: direct:bad", "log: never") + called)
        await running.settled("caller")
        assert running.engine.status("caller").statistics.exchanges_failed == 1
        assert running.listener.messages == ["Exchange failed: command 'sh' ended with exit value 3"]


async def test_a_call_that_no_route_of_the_flow_takes_fails() -> None:
    async with running_engine() as running:
        await running.start("other", route("direct:elsewhere", "log: never"))
        await running.start("caller", once("to: direct:elsewhere"))
        await running.settled("caller")
        assert running.listener.messages == ["Exchange failed: no route of this flow begins with 'direct:elsewhere'"]


async def test_a_call_may_go_nowhere_when_the_flow_says_so() -> None:
    async with running_engine() as running:
        await running.start("caller", once("to: direct:nobody?failIfNoConsumers=false", "log: on"))
        await running.settled("caller")
        assert running.listener.messages == ["on"]


async def test_two_routes_cannot_begin_with_the_same_name() -> None:
    async with running_engine() as running:
        with pytest.raises(NoConsumer, match="'direct:twice' stands in `from` twice"):
            await running.start("twice", route("direct:twice", "log: a") + route("direct:twice", "log: b"))
        assert running.engine.names() == []
