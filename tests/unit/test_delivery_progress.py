from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.areas.eventing.delivery.event_delivery import EventDelivery
from penstock.areas.eventing.delivery.policy import DeliveryPolicy
from penstock.areas.eventing.delivery.progress import Progress, ProgressMemory
from penstock.areas.eventing.delivery.running_pipeline import RunningPipeline, Target
from penstock.bus.message import Delivered
from penstock.connectors.circuit_breaker import CircuitBreaker
from penstock.connectors.failure import DeliveryFailed
from penstock.connectors.resolution import Secrets
from penstock.protocol.cloudevent import CloudEvent

EVENT = CloudEvent(id="1", source="/", type="t")
NOW = datetime(2026, 5, 1, tzinfo=UTC)


def message(sequence: int, tries: int = 1, **others: Any) -> Delivered:
    facts = {"subject": "s", "data": b"", "headers": {}, "time": NOW, "pending": 0, **others}
    return Delivered(sequence=sequence, tries=tries, **facts)


def pipeline(*keys: str, calls: list[str]) -> RunningPipeline:
    """Endpoints that refuse everything."""

    def target(key: str) -> Target:
        async def refuse(event: CloudEvent) -> None:
            calls.append(key)
            raise DeliveryFailed("no")

        return Target(key, "test", 0, CircuitBreaker(lambda: 0.0, failures=1000), refuse)

    return RunningPipeline((), [target(key) for key in keys], Secrets())


@given(st.integers(1, 4))
def test_pauses_grow_and_are_spread_around_their_length(tries: int) -> None:
    policy = DeliveryPolicy()
    pause = policy.pause_after(tries)
    assert pause is not None
    assert 0.8 * policy.retry_seconds[tries - 1] <= pause <= 1.2 * policy.retry_seconds[tries - 1]


def test_after_the_last_pause_there_is_none() -> None:
    assert DeliveryPolicy().pause_after(5) is None
    assert DeliveryPolicy(retry_seconds=()).pause_after(1) is None


@pytest.mark.parametrize(("earlier", "left"), [(0, 5), (2, 3), (4, 1), (9, 1)])
async def test_tries_of_a_server_that_died_count(earlier: int, left: int) -> None:
    calls: list[str] = []
    delivery = EventDelivery(EVENT, Progress(earlier), DeliveryPolicy(retry_seconds=(0, 0, 0, 0)))
    running = pipeline("a", calls=calls)
    while not delivery.settled or not calls:
        await delivery.attempt(running)
    assert len(calls) == left
    assert [failure.tries for failure in delivery.failures()] == [earlier + left]


async def test_endpoints_that_had_a_replayed_event_are_left_out() -> None:
    calls: list[str] = []
    progress = ProgressMemory(10).of(message(1), ["a"])
    assert progress is not None
    await EventDelivery(EVENT, progress, DeliveryPolicy()).attempt(pipeline("a", "b", calls=calls))
    assert calls == ["b"]


def test_an_event_that_was_done_is_known_when_it_comes_again() -> None:
    memory = ProgressMemory(10)
    assert memory.of(message(1), []) is not None
    memory.done(message(1))
    assert memory.of(message(1, tries=2), []) is None


def test_an_event_of_a_stream_made_anew_is_another_one() -> None:
    memory = ProgressMemory(10)
    memory.done(message(1))
    assert memory.of(message(1, time=NOW.replace(hour=1)), []) is not None


def test_progress_goes_on_when_the_bus_hands_an_event_out_again() -> None:
    memory = ProgressMemory(10)
    before = memory.of(message(1), [])
    assert before is not None
    before.leg("a").tries = 3
    assert memory.of(message(1, tries=2), []) is before


def test_what_is_remembered_is_bounded() -> None:
    memory = ProgressMemory(3)
    for sequence in range(10):
        memory.done(message(sequence))
    assert [sequence for sequence in range(10) if memory.of(message(sequence), []) is None] == [7, 8, 9]
