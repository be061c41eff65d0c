"""The access log read on, whatever is ended in between: each line once."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from penstock.gateway.access_log import AccessLog, Place
from penstock.gateway.logged_call import LoggedCall


class Writer:
    """Writes as Envoy does: a file opened for appending, opened again by its name when told to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.asked = 0
        self._file = path.open("ab", buffering=0)
        self._number = 0

    def write(self, count: int = 1) -> None:
        for _ in range(count):
            self._number += 1
            call = LoggedCall(time=datetime(2026, 1, 31, tzinfo=UTC), route="a/v1/s", ms=self._number)
            self._file.write(msgspec.json.encode(call) + b"\n")

    def write_half(self) -> None:
        self._file.write(b'{"time":"2026-01-31T00:00:00Z","route":"a/v1')

    def close(self) -> None:
        self._file.close()

    async def ignore(self) -> None:
        """It was ended before it came to opening its log."""
        self.asked += 1

    async def reopen(self) -> None:
        self.asked += 1
        self._file.close()
        self._file = self.path.open("ab", buffering=0)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    writing = Writer(tmp_path / "access.log")
    yield writing
    writing.close()


class Reading:
    """Reads to the end, keeping the place as if it were on disk."""

    def __init__(self, log: AccessLog) -> None:
        self.log = log
        self.place = Place()
        self.numbers: list[int] = []

    def to_the_end(self) -> None:
        more = True
        while more:
            read = self.log.read(self.place)
            more = read.more
            self.place = read.place
            self.numbers += [call.ms for call in read.calls]
            self.log.forget_old(self.place)


async def test_lines_are_read_once_and_in_their_order(writer: Writer) -> None:
    reading = Reading(AccessLog(writer.path, writer.reopen))
    for _ in range(3):
        writer.write(4)
        reading.to_the_end()
        reading.to_the_end()
    assert reading.numbers == list(range(1, 13))


async def test_a_line_is_read_when_it_has_its_end(writer: Writer) -> None:
    reading = Reading(AccessLog(writer.path, writer.reopen))
    writer.write()
    with writer.path.open("ab") as file:
        file.write(b'{"time":"2026-01-31T00:00:00Z",')
    reading.to_the_end()
    assert reading.numbers == [1]
    with writer.path.open("ab") as file:
        file.write(b'"ms":77}\n')
    reading.to_the_end()
    assert reading.numbers == [1, 77]


async def test_what_a_killed_writer_left_of_a_line_costs_no_other_line(writer: Writer) -> None:
    reading = Reading(AccessLog(writer.path, writer.reopen))
    writer.write()
    writer.write_half()
    writer.write(2)
    reading.to_the_end()
    assert reading.numbers == [1, 2, 3]


async def test_a_large_log_is_begun_anew_and_nothing_is_left_out(writer: Writer) -> None:
    log = AccessLog(writer.path, writer.reopen, largest=500)
    reading = Reading(log)
    for _ in range(20):
        writer.write(3)
        await log.rotate()
        writer.write(2)
        reading.to_the_end()
    assert reading.numbers == list(range(1, 101))
    assert writer.asked > 5
    assert sum(file.stat().st_size for file in writer.path.parent.iterdir()) < 1500


async def test_lines_written_after_the_renaming_are_read_before_those_of_the_new_file(writer: Writer) -> None:
    log = AccessLog(writer.path, writer.ignore, largest=10)
    reading = Reading(log)
    writer.write(2)
    await log.rotate()
    writer.write(2)
    reading.to_the_end()
    await writer.reopen()
    writer.write(2)
    reading.to_the_end()
    assert reading.numbers == [1, 2, 3, 4, 5, 6]
    assert os.listdir(writer.path.parent) == ["access.log"]


async def test_a_reader_that_was_ended_while_the_log_was_begun_anew_goes_on(writer: Writer) -> None:
    log = AccessLog(writer.path, writer.ignore, largest=10)
    reading = Reading(log)
    writer.write(2)
    reading.to_the_end()
    await log.rotate()
    writer.write(2)
    again = Reading(AccessLog(writer.path, writer.reopen, largest=10))
    again.place = reading.place
    await again.log.rotate()  # asks once more, since the new file is not there
    writer.write(2)
    again.to_the_end()
    assert again.numbers == [3, 4, 5, 6]


async def test_a_log_that_was_replaced_is_read_from_its_beginning(writer: Writer) -> None:
    log = AccessLog(writer.path, writer.reopen)
    reading = Reading(log)
    writer.write(3)
    reading.to_the_end()
    writer.path.rename(writer.path.with_name("elsewhere"))
    await writer.reopen()
    writer.write(1)
    reading.to_the_end()
    assert reading.numbers == [1, 2, 3, 4]


async def test_nothing_is_read_before_there_is_a_log(tmp_path: Path) -> None:
    async def reopen() -> None:
        raise AssertionError("there is nothing to open again")

    log = AccessLog(tmp_path / "none.log", reopen)
    await log.rotate()
    assert log.read(Place()) == ([], Place(), False)
