"""`seda`: queues between the routes of a flow."""

import asyncio
from datetime import timedelta

import pytest

from tests.conformance.flow_sources import once, route
from tests.conformance.running_engine import eventually, running_engine

GRACE = timedelta(seconds=30)
SLOW = "to: {uri: exec:sleep, parameters: {args: ['0.2']}}"
STUCK = "to: {uri: exec:sleep, parameters: {args: ['600']}}"


async def test_the_sender_does_not_wait_for_the_other_route() -> None:
    async with running_engine() as running:
        await running.start(
            "queued", once("to: seda:later", "log: 'sent ${body}'", body="a") + route("seda:later", SLOW, "log: done")
        )
        await running.settled("queued", 2)
        assert running.listener.messages == ["sent a", "done"]


async def test_the_other_route_gets_a_copy() -> None:
    async with running_engine() as running:
        later = route("seda:later", "setHeader: {name: theirs, constant: x}", "setBody: {constant: changed}", "log: on")
        await running.start("copied", once("to: seda:later", SLOW, "log: '${header.theirs}'", body="a") + later)
        await running.settled("copied", 2)
        assert running.listener.messages == ["on", ""]


async def test_the_sender_may_wait_for_the_other_route_and_takes_its_message() -> None:
    async with running_engine() as running:
        later = route("seda:later", SLOW, "setBody: {simple: 'answer'}")
        sender = once("to: seda:later?waitForTaskToComplete=Always", "log: '${body}'", body="question")
        await running.start("waiting", sender + later)
        await running.settled("waiting", 2)
        assert running.listener.messages == ["answer"]


async def test_a_sender_that_waits_fails_as_the_other_route_does() -> None:
    async with running_engine() as running:
        later = route("seda:later", "to: direct:nobody")
        await running.start("failing", once("to: seda:later?waitForTaskToComplete=Always", "log: never") + later)
        await running.settled("failing", 2)
        assert running.engine.status("failing").statistics.exchanges_failed == 2


async def test_a_sender_waits_no_longer_than_its_time_limit() -> None:
    async with running_engine() as running:
        sender = once("to: seda:later?waitForTaskToComplete=Always&timeout=50", "log: never")
        await running.start("late", sender + route("seda:later", STUCK))
        await running.settled("late")
        assert running.listener.messages[0].startswith(
            "Exchange failed: The OUT message was not received within: 50 millis"
        )


async def test_exchanges_are_taken_one_after_the_other_in_order() -> None:
    async with running_engine() as running:
        sender = route(
            "timer:t?delay=0&period=1&repeatCount=3&includeMetadata=true",
            *[
                "setBody: {simple: '${exchangeProperty.CamelTimerCounter}'}",
                "to: seda:later",
            ],
        )
        await running.start("ordered", sender + route("seda:later", "log: '${body}'", SLOW, "log: done"))
        await running.settled("ordered", 6)
        assert running.listener.messages == ["1", "done", "2", "done", "3", "done"]


async def test_several_consumers_work_side_by_side() -> None:
    async with running_engine() as running:
        sender = route("timer:t?delay=0&period=1&repeatCount=3", "to: seda:later")
        await running.start("wide", sender + route("seda:later?concurrentConsumers=3", STUCK))
        await eventually(lambda: len(running.listener.started) == 3)


async def test_a_full_queue_refuses() -> None:
    async with running_engine() as running:
        sender = route("timer:t?delay=0&period=1&repeatCount=4", "to: seda:later")
        await running.start("full", sender + route("seda:later?size=2", STUCK))
        await running.settled("full", 4)
        assert running.listener.messages == ["Exchange failed: Queue full"]


async def test_a_full_queue_drops_when_the_sender_says_so() -> None:
    async with running_engine() as running:
        sender = route("timer:t?delay=0&period=1&repeatCount=5", "to: seda:later?discardWhenFull=true", "log: sent")
        await running.start("dropping", sender + route("seda:later?size=1", STUCK))
        await running.settled("dropping", 5)
        assert running.listener.messages == ["sent"] * 5
        assert len(running.listener.started) == 1


async def test_a_sender_waits_for_a_place_when_it_says_so() -> None:
    async with running_engine() as running:
        sender = route("timer:t?delay=0&period=1&repeatCount=4", "to: seda:later?blockWhenFull=true")
        await running.start("blocking", sender + route("seda:later?size=1", SLOW, "log: done"))
        await running.settled("blocking", 8)
        assert running.listener.messages == ["done"] * 4


async def test_a_place_is_waited_for_no_longer_than_the_offer_timeout() -> None:
    async with running_engine() as running:
        sender = route("timer:t?delay=0&period=1&repeatCount=3", "to: seda:later?blockWhenFull=true&offerTimeout=30")
        await running.start("impatient", sender + route("seda:later?size=1", STUCK))
        await eventually(lambda: bool(running.listener.messages))
        assert running.listener.messages == ["Exchange failed: Queue full: no place within 0.03 s"]


async def test_what_waits_when_the_flow_stops_is_done_within_the_grace() -> None:
    async with running_engine() as running:
        sender = route("timer:t?delay=0&period=1&repeatCount=3", "to: seda:later", "log: sent")
        await running.start("stopping", sender + route("seda:later", SLOW, "log: done"))
        await eventually(lambda: running.listener.messages.count("sent") == 3)
        await running.engine.stop("stopping", GRACE)
        assert running.listener.messages.count("done") == 3


async def test_what_does_not_end_within_the_grace_is_ended() -> None:
    async with running_engine() as running:
        sender = route("timer:t?delay=0&period=1&repeatCount=3", "to: seda:later", "log: sent")
        await running.start("stopping", sender + route("seda:later", STUCK))
        await eventually(lambda: running.listener.messages.count("sent") == 3)
        async with asyncio.timeout(20):
            await running.engine.stop("stopping", timedelta())
        assert running.engine.names() == []


@pytest.mark.parametrize(("options", "message"), [("", "on"), ("?failIfNoConsumers=true", "Exchange failed: ")])
async def test_without_a_route_the_exchange_is_dropped_or_fails_as_the_flow_says(options: str, message: str) -> None:
    async with running_engine() as running:
        await running.start("nobody", once(f"to: seda:nobody{options}", "log: on"))
        await running.settled("nobody")
        assert running.listener.messages[0].startswith(message)
