"""Whose turn it is when there are fewer places than runs."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest

from penstock.engine.turns import Turns


class Crowd:
    """Parties that ask for turns, and who got one."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.running: list[str] = []
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}

    async def ask(self, name: str, party: str | None, times: int = 1) -> None:
        for _ in range(times):
            self._tasks.setdefault(name, []).append(asyncio.create_task(self._run(name, party)))
            await asyncio.sleep(0)
        await settle()

    async def end(self, name: str) -> None:
        """Ends what runs or waits longest under the name."""
        task = self._tasks[name].pop(0)
        task.cancel()
        await asyncio.wait([task])
        await settle()

    async def _run(self, name: str, party: str | None) -> None:
        async with self.turns.turn(party):
            self.running.append(name)
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self.running.remove(name)


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
async def crowd() -> AsyncIterator[Callable[[int], Crowd]]:
    async with AsyncExitStack() as stack:

        def make(places: int) -> Crowd:
            made = Crowd(Turns(places))
            stack.push_async_callback(end_all, made)
            return made

        yield make


async def end_all(crowd: Crowd) -> None:
    for name, tasks in crowd._tasks.items():
        while tasks:
            await crowd.end(name)
    assert crowd.turns.waiting == 0
    assert crowd.running == []


async def test_a_party_that_has_places_leaves_a_quarter_to_others(crowd: Callable[[int], Crowd]) -> None:
    made = crowd(8)
    await made.ask("slow", "slow", times=20)
    assert (made.running.count("slow"), made.turns.waiting) == (6, 14)
    await made.ask("other", "other")
    await made.ask("third", "third")
    assert {"other", "third"} <= set(made.running)


async def test_runs_of_nobody_take_every_place_in_their_order(crowd: Callable[[int], Crowd]) -> None:
    made = crowd(4)
    for name in "abcdef":
        await made.ask(name, None)
    assert made.running == ["a", "b", "c", "d"]
    await made.end("b")
    assert made.running == ["a", "c", "d", "e"]


async def test_a_place_that_gets_free_goes_to_whoever_may_have_it(crowd: Callable[[int], Crowd]) -> None:
    made = crowd(4)
    await made.ask("slow", "slow", times=5)
    await made.ask("other", "other", times=2)
    assert sorted(made.running) == ["other", "slow", "slow", "slow"]
    await made.end("slow")
    assert sorted(made.running) == ["other", "slow", "slow"]
    await made.ask("third", "third")
    assert "third" in made.running


async def test_who_stops_waiting_takes_no_place(crowd: Callable[[int], Crowd]) -> None:
    made = crowd(1)
    await made.ask("first", "a")
    await made.ask("second", "b")
    await made.end("second")
    await made.end("first")
    await made.ask("third", "c")
    assert made.running == ["third"]


async def test_one_place_is_for_anybody(crowd: Callable[[int], Crowd]) -> None:
    made = crowd(1)
    await made.ask("only", "only", times=2)
    await made.end("only")
    assert made.running == ["only"]
