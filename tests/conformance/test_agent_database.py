"""The agent's file: group commit, failures for one, what is kept after a kill."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from penstock.agent.assigned.book import Drawer
from penstock.agent.batches import next_batch
from penstock.agent.database import DamagedDatabase, Database
from penstock.agent.entries import Channel
from penstock.agent.outbox import Outbox
from penstock.agent.schema import VERSIONS
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import Unavailable
from penstock.kernel.validation import decode_json
from penstock.protocol.event_source import EventReport, EventSourceStatus, SourceItem


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "agent.db")
    await database.open()
    yield database
    await database.close()


def insert(flow: str) -> "Insert":
    return Insert(flow)


class Insert:
    """Work that puts one row into a table that allows it once."""

    def __init__(self, flow: str) -> None:
        self._flow = flow

    def __call__(self, connection: sqlite3.Connection) -> str:
        connection.execute("INSERT INTO accounts VALUES (?, 0)", (self._flow,))
        return self._flow


def flows(connection: sqlite3.Connection) -> list[str]:
    return [flow for (flow,) in connection.execute("SELECT flow FROM accounts ORDER BY flow")]


async def test_work_returns_once_it_is_on_disk(database: Database, tmp_path: Path) -> None:
    assert await database.run(insert("a")) == "a"

    with closing(sqlite3.connect(tmp_path / "agent.db")) as other:
        assert flows(other) == ["a"]


async def test_work_that_fails_takes_no_other_with_it(database: Database) -> None:
    ends = await asyncio.gather(*(database.run(insert(name)) for name in "abab"), return_exceptions=True)

    assert [type(end) for end in ends] == [str, str, sqlite3.IntegrityError, sqlite3.IntegrityError]
    assert await database.run(flows) == ["a", "b"]


async def test_what_fails_halfway_is_not_kept(database: Database) -> None:
    def half(connection: sqlite3.Connection) -> None:
        insert("a")(connection)
        raise LookupError("the other half")

    with pytest.raises(LookupError):
        await database.run(half)
    assert await database.run(flows) == []


async def test_work_is_done_in_the_order_in_which_it_is_handed_over(database: Database) -> None:
    done: list[int] = []
    for number in range(1200):
        database.post(lambda connection, number=number: done.append(number))  # type: ignore[misc]
    await database.run(lambda connection: None)

    assert done == list(range(1200))


async def test_closing_finishes_what_was_handed_over(tmp_path: Path) -> None:
    database = Database(tmp_path / "agent.db")
    await database.open()
    handed_over = [database.post(insert(str(number))) for number in range(700)]
    await database.close()

    assert len({await each for each in handed_over}) == 700
    with pytest.raises(Unavailable):
        database.post(insert("late"))


async def test_while_another_holds_the_file_work_waits(database: Database, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "agent.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.ensure_future(database.run(insert("a")))
        assert not (await asyncio.wait({waiting}, timeout=0.3))[0]
        other.execute("ROLLBACK")

    assert await waiting == "a"


@pytest.mark.parametrize("content", [b"this is no database at all, whatever its name says" * 100])
async def test_a_damaged_file_is_told_by_name(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "agent.db").write_bytes(content)

    with pytest.raises(DamagedDatabase, match=r"agent\.db"):
        await Database(tmp_path / "agent.db").open()


async def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "agent.db")) as other:
        other.execute("CREATE TABLE theirs (x)")
        other.commit()

    with pytest.raises(DamagedDatabase, match="another program"):
        await Database(tmp_path / "agent.db").open()


async def test_a_database_of_a_newer_version_is_refused(database: Database, tmp_path: Path) -> None:
    await database.close()
    with closing(sqlite3.connect(tmp_path / "agent.db")) as other:
        other.execute("PRAGMA user_version = 1000")

    with pytest.raises(DamagedDatabase, match="newer version"):
        await Database(tmp_path / "agent.db").open()


OLD_SOURCE = {
    "Id": "00000000-0000-0000-0000-000000000001",
    "Name": "orders",
    "Stamp": "s1",
    "Type": "timer",
    "Version": "1.0.0",
    "Configuration": "{}",
    "RequiresPolling": True,
    "Shared": False,
    "HasSecrets": False,
}
OLD_STATUS = {"Status": "New", "PreviousStatus": "New", "LastStatusUpdate": "2026-01-31T08:30:00Z", "Messages": []}


def version_2(path: Path) -> None:
    """A file as it was when event sources had a table of their own."""
    with closing(sqlite3.connect(path)) as old:
        for script in VERSIONS[:2]:
            old.executescript(script)
        old.execute("PRAGMA application_id = 0x50454E41")
        old.execute("PRAGMA user_version = 2")
        status = msgspec.json.encode(OLD_STATUS)
        secret = OLD_SOURCE | {"Id": "00000000-0000-0000-0000-000000000002", "HasSecrets": True}
        for item in (OLD_SOURCE, secret):
            row = (item["Id"], msgspec.json.encode(item), b"7", status)
            old.execute("INSERT INTO sources (id, item, position, status) VALUES (?, ?, ?, ?)", row)
        told = msgspec.json.encode({"SourceId": OLD_SOURCE["Id"], "Status": OLD_STATUS, "Removed": True})
        old.execute("INSERT INTO outbox (channel, part, flow, entry) VALUES ('events', 'source', 'x', ?)", (told,))
        old.commit()


async def test_event_sources_of_an_older_file_are_taken_over_with_their_positions_and_reports(
    tmp_path: Path,
) -> None:
    version_2(tmp_path / "agent.db")
    database = Database(tmp_path / "agent.db")
    await database.open()
    outbox = Outbox(database, SystemClock(), limit=1 << 30)
    kept = await Drawer("sources", Channel.EVENTS, database, outbox, SystemClock()).kept()
    batch = await database.run(lambda connection: next_batch(connection, Channel.EVENTS, None))
    await database.close()

    first, second = kept.values()
    assert decode_json(first.body or b"", SourceItem).name == "orders"
    assert (first.stamp, first.progress, second.body, second.progress) == ("s1", b"7", None, b"7")
    assert decode_json(second.status or b"", EventSourceStatus).status == "New"
    assert batch is not None
    [state] = decode_json(batch.body, EventReport).states
    assert (str(state.key), state.removed) == (OLD_SOURCE["Id"], True)
    assert decode_json(bytes(state.status), EventSourceStatus).status == "New"
