import asyncio
from collections.abc import Callable

from penstock.agent.flow_queue import Change, FlowQueue


class Recorder:
    """Changes that note their begin and end, and wait to be let go."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.failed: list[str] = []
        self.go = asyncio.Event()

    def change(self, name: str) -> Change:
        async def change() -> None:
            self.log.append(f"{name} begins")
            await self.go.wait()
            self.log.append(f"{name} ends")

        return change


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0)


async def test_changes_of_one_flow_follow_each_other_and_only_the_newest_that_waits_is_made() -> None:
    recorder = Recorder()
    async with FlowQueue(recorder.failed.append) as queue:
        await queue.put("a", recorder.change("first"))
        await until(lambda: bool(recorder.log))
        await queue.put("a", recorder.change("second"))
        await queue.put("a", recorder.change("third"))
        recorder.go.set()
        await queue.done()

    assert recorder.log == ["first begins", "first ends", "third begins", "third ends"]


async def test_changes_of_different_flows_go_on_side_by_side() -> None:
    recorder = Recorder()
    async with FlowQueue(recorder.failed.append) as queue:
        await queue.put("a", recorder.change("a"))
        await queue.put("b", recorder.change("b"))
        await until(lambda: len(recorder.log) == 2)
        recorder.go.set()
        await queue.done()

    assert set(recorder.log[:2]) == {"a begins", "b begins"}


async def test_a_change_that_fails_is_told_and_the_others_go_on() -> None:
    recorder = Recorder()
    recorder.go.set()

    async def fail() -> None:
        raise RuntimeError("no")

    async with FlowQueue(recorder.failed.append) as queue:
        await queue.put("a", fail)
        await queue.put("b", recorder.change("b"))
        await queue.done()
        await queue.put("a", recorder.change("a"))
        await queue.done()

    assert recorder.failed == ["a"]
    assert recorder.log == ["b begins", "b ends", "a begins", "a ends"]


async def test_whoever_puts_in_too_much_waits() -> None:
    recorder = Recorder()
    async with FlowQueue(recorder.failed.append) as queue:
        putting = asyncio.ensure_future(put_all(queue, recorder, 2000))
        await until(lambda: bool(recorder.log))
        assert not (await asyncio.wait({putting}, timeout=0.05))[0]
        recorder.go.set()
        await putting
        await queue.done()

    assert len(recorder.log) == 4000


async def put_all(queue: FlowQueue, recorder: Recorder, count: int) -> None:
    for number in range(count):
        await queue.put(f"flow-{number}", recorder.change(f"{number}"))
