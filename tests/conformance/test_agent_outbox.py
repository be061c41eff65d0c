"""The outbox: what is told is told once acknowledged, in order, in numbered messages, within its bound."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from penstock.agent.batches import Batch
from penstock.agent.database import Database
from penstock.agent.entries import Channel, insert_entries, state_entry, tick_entry
from penstock.agent.outbox import Outbox
from penstock.kernel.clock import ManualClock
from penstock.kernel.errors import TooLarge, Unavailable
from penstock.kernel.ids import new_id
from penstock.kernel.validation import decode_json
from penstock.protocol.report import (
    FlowReport,
    FlowState,
    IntegrationFlowStatusEnum,
    LogLine,
    LogReport,
    ScheduleReport,
    TickOutcome,
    TickReport,
)
from tests.nats_server import eventually

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MIB = 1024 * 1024


class Receiver:
    """Where messages arrive. refuse: raises instead of taking one."""

    def __init__(self, refuse: Callable[[Batch], None] = lambda batch: None) -> None:
        self.batches: list[Batch] = []
        self.refuse = refuse

    async def __call__(self, batch: Batch) -> None:
        self.refuse(batch)
        self.batches.append(batch)

    @property
    def due(self) -> list[datetime]:
        """The ticks, in the order in which they came."""
        bodies = [batch.body for batch in self.batches if batch.channel is Channel.SCHEDULES]
        return [tick.due for body in bodies for tick in decode_json(body, ScheduleReport).ticks]

    @property
    def lines(self) -> list[LogLine]:
        bodies = [batch.body for batch in self.batches if batch.channel is Channel.LOGS]
        return [line for body in bodies for line in decode_json(body, LogReport).lines]

    @property
    def states(self) -> list[FlowState]:
        bodies = [batch.body for batch in self.batches if batch.channel is Channel.FLOWS]
        return [state for body in bodies for state in decode_json(body, FlowReport).states]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "agent.db")
    await database.open()
    yield database
    await database.close()


@pytest.fixture
def outbox(database: Database) -> Outbox:
    return Outbox(database, ManualClock(NOW), 100 * MIB)


@asynccontextmanager
async def delivering(outbox: Outbox, receiver: Receiver) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(outbox.deliver(receiver)), asyncio.create_task(outbox.write_lines())]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def due(number: int) -> datetime:
    return NOW + timedelta(seconds=number)


async def add_ticks(database: Database, outbox: Outbox, numbers: range) -> None:
    ticks = [
        TickReport(flow="f", version="1", due=due(number), last_due=due(number), outcome=TickOutcome.FIRED)
        for number in numbers
    ]
    await database.run(lambda connection: insert_entries(connection, map(tick_entry, ticks)))
    outbox.stored(Channel.SCHEDULES, len(ticks))


def line(flow: str, message: str) -> LogLine:
    return LogLine(id=new_id(), at=NOW, flow=flow, level="INFO", message=message)


async def test_reports_arrive_in_order_and_together(database: Database, outbox: Outbox) -> None:
    receiver = Receiver()
    async with delivering(outbox, receiver):
        await add_ticks(database, outbox, range(450))
        await outbox.flush(10)

    assert receiver.due == [due(number) for number in range(450)]
    assert [(batch.number, batch.entries) for batch in receiver.batches] == [(1, 200), (2, 200), (3, 50)]


async def test_a_message_is_sent_until_it_is_acknowledged(database: Database, outbox: Outbox) -> None:
    refusals = iter(range(2))

    def twice(batch: Batch) -> None:
        if next(refusals, None) is not None:
            raise Unavailable()

    receiver = Receiver(twice)
    async with delivering(outbox, receiver):
        await add_ticks(database, outbox, range(3))
        await outbox.flush(10)

    assert receiver.due == [due(number) for number in range(3)]


async def test_after_a_restart_an_unacknowledged_message_comes_again_as_it_was(tmp_path: Path) -> None:
    seen: list[Batch] = []

    def take_but_do_not_acknowledge(batch: Batch) -> None:
        seen.append(batch)
        raise Unavailable()

    first = Database(tmp_path / "agent.db")
    await first.open()
    outbox = Outbox(first, ManualClock(NOW), 100 * MIB)
    async with delivering(outbox, Receiver(take_but_do_not_acknowledge)):
        await add_ticks(first, outbox, range(3))
        await eventually(lambda: bool(seen))
        await add_ticks(first, outbox, range(3, 5))
    await first.close()

    second = Database(tmp_path / "agent.db")
    await second.open()
    receiver, outbox = Receiver(), Outbox(second, ManualClock(NOW), 100 * MIB)
    async with delivering(outbox, receiver):
        await outbox.flush(10)
    await second.close()

    assert receiver.batches[0] == seen[0]
    assert receiver.due == [due(number) for number in range(5)]
    assert [batch.number for batch in receiver.batches] == [1, 2]


async def test_what_is_acknowledged_is_not_sent_again(tmp_path: Path) -> None:
    for numbers in (range(3), range(3, 6)):
        database = Database(tmp_path / "agent.db")
        await database.open()
        receiver, outbox = Receiver(), Outbox(database, ManualClock(NOW), 100 * MIB)
        async with delivering(outbox, receiver):
            await add_ticks(database, outbox, numbers)
            await outbox.flush(10)
        await database.close()

    assert receiver.due == [due(number) for number in range(3, 6)]
    assert [batch.number for batch in receiver.batches] == [2]


async def test_a_message_that_is_too_large_is_split(database: Database, outbox: Outbox) -> None:
    def at_most_three(batch: Batch) -> None:
        if batch.entries > 3:
            raise TooLarge()

    receiver = Receiver(at_most_three)
    async with delivering(outbox, receiver):
        await add_ticks(database, outbox, range(10))
        await outbox.flush(10)

    assert receiver.due == [due(number) for number in range(10)]
    numbers = [batch.number for batch in receiver.batches]
    assert numbers == sorted(set(numbers))


async def test_a_report_that_no_bus_takes_does_not_hold_up_the_others(database: Database, outbox: Outbox) -> None:
    def not_the_second(batch: Batch) -> None:
        if due(1) in [tick.due for tick in decode_json(batch.body, ScheduleReport).ticks]:
            raise TooLarge()

    receiver = Receiver(not_the_second)
    async with delivering(outbox, receiver):
        await add_ticks(database, outbox, range(4))
        await outbox.flush(10)

    assert receiver.due == [due(0), due(2), due(3)]


async def test_a_channel_that_is_stuck_does_not_hold_up_another(database: Database, outbox: Outbox) -> None:
    def no_schedules(batch: Batch) -> None:
        if batch.channel is Channel.SCHEDULES:
            raise Unavailable()

    receiver = Receiver(no_schedules)
    async with delivering(outbox, receiver):
        await add_ticks(database, outbox, range(1))
        outbox.log(line("f", "hello"))
        await eventually(lambda: bool(receiver.lines))


async def test_of_the_states_of_a_flow_only_the_last_waits(database: Database, outbox: Outbox) -> None:
    states = [
        FlowState(name=flow, version="1", status=status, at=NOW)
        for flow in ("a", "b")
        for status in (IntegrationFlowStatusEnum.RUNNING, IntegrationFlowStatusEnum.STOPPED)
    ]
    for state in states:
        entry = state_entry(state)
        await database.run(lambda connection, entry=entry: insert_entries(connection, [entry]))  # type: ignore[misc]
        outbox.stored(Channel.FLOWS, 1)
    receiver = Receiver()
    async with delivering(outbox, receiver):
        await outbox.flush(10)

    assert receiver.states == [states[1], states[3]]


async def test_when_the_outbox_is_full_log_lines_go_first_and_that_is_told(database: Database) -> None:
    outbox = Outbox(database, ManualClock(NOW), 2 * MIB)
    for number in range(4000):
        outbox.log(line("chatty", f"{number:05} {'x' * 1000}"))
    await outbox.flush_lines()
    await add_ticks(database, outbox, range(300))
    receiver = Receiver()
    async with delivering(outbox, receiver):
        await outbox.flush(20)
        await eventually(lambda: receiver.lines[-1].level == "WARN")

    *kept, told = receiver.lines
    assert receiver.due == [due(number) for number in range(300)]
    assert 0 < len(kept) < 2100, "what fits into the bound"
    assert [each.message[:5] for each in kept] == [f"{number:05}" for number in range(4000 - len(kept), 4000)]
    assert told.message.startswith(f"{4000 - len(kept)} log lines were dropped")
    assert told.flow == "chatty"


async def test_reports_that_must_be_told_are_kept_beyond_the_bound(database: Database) -> None:
    outbox = Outbox(database, ManualClock(NOW), 1)
    ticks = [
        TickReport(flow="f", version="1", due=due(n), last_due=due(n), outcome=TickOutcome.FIRED) for n in range(3)
    ]
    outbox.post(lambda connection: insert_entries(connection, map(tick_entry, ticks)), Channel.SCHEDULES, 3)
    outbox.log(line("f", "hello"))
    await outbox.flush_lines()
    assert outbox.full

    receiver = Receiver()
    async with delivering(outbox, receiver):
        await eventually(lambda: len(receiver.due) == 3)


async def test_a_flush_gives_up_in_time(database: Database, outbox: Outbox) -> None:
    def away(batch: Batch) -> None:
        raise Unavailable()

    async with delivering(outbox, Receiver(away)):
        await add_ticks(database, outbox, range(1))
        await outbox.flush(0.1)

    rows = await database.run(lambda connection: connection.execute("SELECT count(*) FROM outbox").fetchall())
    assert rows == [(1,)]
