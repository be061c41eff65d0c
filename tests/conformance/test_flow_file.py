"""`file`: flows that read and write files, on a real disk."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.flow.surroundings import Reach
from penstock.kernel.errors import Forbidden
from tests.conformance.flow_sources import once, route
from tests.conformance.running_engine import RunningEngine, eventually, running_engine

GRACE = timedelta(seconds=30)
QUICK = {"initialDelay": 0, "delay": 20}
LOG = "log: '${header.CamelFileName}=${body}'"


@asynccontextmanager
async def engine(*folders: Path, **reach: Any) -> AsyncIterator[RunningEngine]:
    async with running_engine(reach=Reach(folders=folders, **reach)) as running:
        yield running


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[RunningEngine]:
    """An engine whose flows may use `tmp_path` alone."""
    async with engine(tmp_path) as running:
        yield running


def files(folder: Path) -> dict[str, str]:
    """Every file below the folder, with its content."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in found}


def fill(folder: Path, **contents: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name.replace("_", ".")).write_text(content)


# Reading


async def test_files_are_taken_by_name_and_moved_out_of_the_way(running: RunningEngine, tmp_path: Path) -> None:
    fill(tmp_path / "in", b_txt="2", a_txt="1")
    await running.start("reading", route("file:in", LOG, **QUICK))
    await eventually(lambda: files(tmp_path / "in") == {".camel/a.txt": "1", ".camel/b.txt": "2"})
    fill(tmp_path / "in", c_txt="3")
    await eventually(lambda: (tmp_path / "in/.camel/c.txt").exists())
    assert running.listener.messages == ["a.txt=1", "b.txt=2", "c.txt=3"]


async def test_a_files_headers_say_what_it_is(running: RunningEngine, tmp_path: Path) -> None:
    fill(tmp_path / "in/deep", a_txt="1234")
    os.utime(tmp_path / "in/deep/a.txt", (1_700_000_000, 1_700_000_000))
    names = ("Name", "NameOnly", "Parent", "AbsolutePath", "Length", "LastModified")
    log = "log: '" + "|".join(f"${{header.CamelFile{name}}}" for name in names) + "'"
    await running.start("reading", route("file:in?recursive=true", log, **QUICK))
    await running.settled("reading")
    folder = tmp_path / "in/deep"
    assert running.listener.messages == [f"deep/a.txt|a.txt|{folder}|{folder}/a.txt|4|1700000000000"]


async def test_files_may_be_deleted(running: RunningEngine, tmp_path: Path) -> None:
    fill(tmp_path / "in", a_txt="1")
    await running.start("reading", route("file:in?delete=true", LOG, **QUICK))
    await eventually(lambda: files(tmp_path) == {})


async def test_files_may_be_left_alone_and_are_taken_once(running: RunningEngine, tmp_path: Path) -> None:
    fill(tmp_path / "in", a_txt="1")
    await running.start("reading", route("file:in?noop=true", LOG, **QUICK))
    await running.settled("reading")
    fill(tmp_path / "in", b_txt="2")
    await running.settled("reading", 2)
    await asyncio.sleep(0.1)
    assert running.listener.messages == ["a.txt=1", "b.txt=2"]
    assert files(tmp_path / "in") == {"a.txt": "1", "b.txt": "2"}


async def test_what_tells_files_apart_may_be_more_than_their_path(running: RunningEngine, tmp_path: Path) -> None:
    fill(tmp_path / "in", a_txt="1")
    key = "${header.CamelFileName}-${header.CamelFileLength}"
    await running.start("reading", route("file:in?noop=true", LOG, idempotentKey=key, **QUICK))
    await running.settled("reading")
    fill(tmp_path / "in", a_txt="22")
    await running.settled("reading", 2)
    assert running.listener.messages == ["a.txt=1", "a.txt=22"]


async def test_a_file_goes_where_the_flow_says(running: RunningEngine, tmp_path: Path) -> None:
    fill(tmp_path / "in", a_txt="1")
    source = route("file:in", "setHeader: {name: CamelFileName, constant: changed}", move="done/${file:name}", **QUICK)
    await running.start("reading", source)
    await eventually(lambda: files(tmp_path / "in") == {"done/a.txt": "1"})


async def test_a_file_that_failed_is_tried_again_or_moved(running: RunningEngine, tmp_path: Path) -> None:
    fill(tmp_path / "in", a_txt="1")
    await running.start("failing", route("file:in", "to: direct:nobody", **QUICK))
    await running.settled("failing", 3)
    await running.engine.stop("failing", GRACE)
    assert files(tmp_path / "in") == {"a.txt": "1"}
    await running.start("moving", route("file:in?moveFailed=bad", "to: direct:nobody", **QUICK))
    await eventually(lambda: files(tmp_path / "in") == {"bad/a.txt": "1"})


@pytest.mark.parametrize(
    ("options", "taken"),
    [
        ({"include": r"a.*\.TXT"}, ["ab.txt"]),
        ({"exclude": r".*\.csv"}, ["ab.txt", "b.txt"]),
        ({"antInclude": "*.txt"}, ["ab.txt", "b.txt"]),
        ({"antInclude": "**/*.txt", "recursive": True}, ["ab.txt", "b.txt", "deep/er/d.txt"]),
        ({"antInclude": "deep/**", "antExclude": "**/d.*", "recursive": True}, ["deep/c.csv"]),
        ({"recursive": True, "maxMessagesPerPoll": 1, "include": ".*csv"}, ["c.csv", "deep/c.csv"]),
    ],
)
async def test_files_are_chosen_by_name(
    running: RunningEngine, tmp_path: Path, options: dict[str, object], taken: list[str]
) -> None:
    fill(tmp_path / "in", ab_txt="", b_txt="", c_csv="")
    fill(tmp_path / "in/deep", c_csv="")
    fill(tmp_path / "in/deep/er", d_txt="")
    (tmp_path / "in/.hidden.txt").touch()
    await running.start("choosing", route("file:in", "log: '${header.CamelFileName}'", **options, **QUICK))
    await running.settled("choosing", len(taken))
    await asyncio.sleep(0.1)
    assert running.listener.messages == taken


async def test_the_order_is_what_the_flow_says(running: RunningEngine, tmp_path: Path) -> None:
    fill(tmp_path / "in", a_txt="333", b_txt="1", c_txt="22", d_txt="1")
    source = route("file:in", "log: '${header.CamelFileName}'", sortBy="file:size;reverse:file:name", **QUICK)
    await running.start("ordered", source)
    await running.settled("ordered", 4)
    assert running.listener.messages == ["d.txt", "b.txt", "c.txt", "a.txt"]


async def test_a_file_that_is_written_to_waits_until_it_is_complete(running: RunningEngine, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    fill(folder, a_txt="be")
    await running.start("waiting", route("file:in", LOG, readLock="changed", readLockCheckInterval=150, **QUICK))
    for part in ("g", "i", "n"):
        await asyncio.sleep(0.05)
        with (folder / "a.txt").open("a") as file:
            file.write(part)
    await running.settled("waiting")
    assert running.listener.messages == ["a.txt=begin"]


async def test_a_file_waits_for_the_one_that_says_it_is_complete(running: RunningEngine, tmp_path: Path) -> None:
    fill(tmp_path / "in", a_txt="1", b_txt="2")
    source = route("file:in?delete=true", LOG, doneFileName="${file:name}.done", exclude=".*done", **QUICK)
    await running.start("waiting", source)
    (tmp_path / "in/b.txt.done").touch()
    await running.settled("waiting")
    await eventually(lambda: files(tmp_path / "in") == {"a.txt": "1"})
    assert running.listener.messages == ["b.txt=2"]


async def test_texts_are_read_by_their_charset_and_bytes_stay_bytes(running: RunningEngine, tmp_path: Path) -> None:
    (tmp_path / "latin").mkdir()
    (tmp_path / "latin/a.txt").write_bytes("grün".encode("latin-1"))
    await running.start("latin", route("file:latin?charset=iso-8859-1", "log: '${body}'", **QUICK))
    await running.settled("latin")
    assert running.listener.messages == ["grün"]
    (tmp_path / "bytes").mkdir()
    (tmp_path / "bytes/a.bin").write_bytes(bytes(range(256)))
    await running.start("bytes", route("file:bytes", "to: file:out", **QUICK))
    await running.settled("bytes")
    assert (tmp_path / "out/a.bin").read_bytes() == bytes(range(256))


async def test_the_file_in_flight_is_seen_to_its_end_when_the_flow_stops(
    running: RunningEngine, tmp_path: Path
) -> None:
    fill(tmp_path / "in", a_txt="1", b_txt="2")
    slow = "to: {uri: exec:sleep, parameters: {args: ['0.3']}}"
    await running.start("stopping", route("file:in", slow, **QUICK))
    await eventually(lambda: bool(running.listener.started))
    await running.engine.stop("stopping", GRACE)
    assert files(tmp_path / "in") == {".camel/a.txt": "1", "b.txt": "2"}


async def test_a_new_version_does_not_take_the_file_that_the_old_one_is_at(
    running: RunningEngine, tmp_path: Path
) -> None:
    fill(tmp_path / "in", a_txt="1")
    slow = "to: {uri: exec:sleep, parameters: {args: ['0.4']}}"
    await running.start("changing", route("file:in", slow, "log: old", **QUICK))
    await eventually(lambda: bool(running.listener.started))
    await running.start("changing", route("file:in", "log: 'new ${header.CamelFileName}'", **QUICK), version="2")
    fill(tmp_path / "in", b_txt="2")
    await eventually(lambda: (tmp_path / "in/.camel/b.txt").exists())
    assert running.listener.messages == ["old", "new b.txt"]


async def test_a_file_that_is_cut_off_stays_where_it_is(running: RunningEngine, tmp_path: Path) -> None:
    fill(tmp_path / "in", a_txt="1")
    await running.start("stopping", route("file:in", "to: {uri: exec:sleep, parameters: {args: ['600']}}", **QUICK))
    await eventually(lambda: bool(running.listener.started))
    await running.engine.stop("stopping", timedelta())
    assert files(tmp_path / "in") == {"a.txt": "1"}


async def test_a_folder_that_goes_is_told_once_and_looked_at_again(running: RunningEngine, tmp_path: Path) -> None:
    await running.start("looking", route("file:in", LOG, **QUICK))
    (tmp_path / "in").rmdir()
    await eventually(lambda: bool(running.listener.messages))
    await asyncio.sleep(0.1)
    assert len(running.listener.messages) == 1
    assert "Cannot list files" in running.listener.messages[0]
    fill(tmp_path / "in", a_txt="1")
    await eventually(lambda: running.listener.messages[-1] == "a.txt=1")


async def test_a_file_that_is_too_large_is_left_alone(tmp_path: Path) -> None:
    fill(tmp_path / "in", a_txt="x" * 200, b_txt="2")
    async with engine(tmp_path, most=100) as running:
        await running.start("reading", route("file:in", LOG, **QUICK))
        await running.settled("reading")
        assert any("a.txt has more than 100 bytes" in message for message in running.listener.messages)
        assert (tmp_path / "in/a.txt").exists()


# Writing


async def write(running: RunningEngine, *steps: str, body: str | None = "hello") -> list[str]:
    """Takes one exchange through the steps; gives what was logged."""
    before = len(running.listener.messages)
    await running.start("writing", once(*steps, body=body))
    await running.settled("writing")
    await running.engine.stop("writing", GRACE)
    return running.listener.messages[before:]


async def test_the_body_is_written_to_the_file_that_is_named(running: RunningEngine, tmp_path: Path) -> None:
    name = "setHeader: {name: CamelFileName, constant: deep/b.txt}"
    told = await write(
        running, name, "to: file:out?fileName=a.txt", "to: file:out", "log: '${header.CamelFileNameProduced}'"
    )
    assert files(tmp_path / "out") == {"a.txt": "hello", "deep/b.txt": "hello"}
    assert told == [f"{tmp_path}/out/deep/b.txt"]


async def test_the_name_may_hold_functions_and_is_the_exchanges_id_else(running: RunningEngine, tmp_path: Path) -> None:
    told = await write(running, "to: 'file:out?fileName=${body}.txt'", "to: file:ids", "log: '${exchangeId}'")
    assert list(files(tmp_path / "out")) == ["hello.txt"]
    assert list(files(tmp_path / "ids")) == told


@pytest.mark.parametrize(
    ("exist", "content", "failed"),
    [("Override", "new", False), ("Append", "oldnew", False), ("Ignore", "old", False), ("Fail", "old", True)],
)
async def test_a_file_that_is_there_already_is_treated_as_the_flow_says(
    running: RunningEngine, tmp_path: Path, exist: str, content: str, failed: bool
) -> None:
    fill(tmp_path / "out", a_txt="old")
    told = await write(running, f"to: file:out?fileName=a.txt&fileExist={exist}", body="new")
    assert files(tmp_path / "out") == {"a.txt": content}
    assert told == ([f"Exchange failed: File already exist: {tmp_path}/out/a.txt. Cannot write new file."] * failed)


async def test_a_file_may_be_written_under_another_name_first(running: RunningEngine, tmp_path: Path) -> None:
    fill(tmp_path / "out", a_txt="old")
    await write(running, "to: file:out?fileName=a.txt&tempPrefix=part-&doneFileName=ready")
    assert files(tmp_path / "out") == {"a.txt": "hello", "ready": ""}


async def test_lines_are_appended(running: RunningEngine, tmp_path: Path) -> None:
    for _ in range(2):
        await write(running, r"to: {uri: file:out?fileName=a.txt&fileExist=Append, parameters: {appendChars: '\n'}}")
    assert files(tmp_path / "out") == {"a.txt": "hello\nhello\n"}


async def test_no_body_is_an_error_unless_the_flow_allows_it(running: RunningEngine, tmp_path: Path) -> None:
    told = await write(running, "to: file:out?fileName=a.txt", body=None)
    assert told == [f"Exchange failed: Cannot write null body to file: {tmp_path}/out/a.txt"]
    await write(running, "to: file:out?fileName=a.txt&allowNullBody=true", body=None)
    assert files(tmp_path / "out") == {"a.txt": ""}


# Folders that are not allowed


@pytest.mark.parametrize(
    "name", ["../secret", "a/../../secret", "..", ".", "a/b/../../../secret", "link/secret", "\\u0000"]
)
async def test_a_name_cannot_lead_out_of_its_folder(running: RunningEngine, tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out/link").symlink_to(tmp_path / "elsewhere")
    told = await write(running, f'setHeader: {{name: CamelFileName, constant: "{name}"}}', "to: file:out")
    assert told[0].startswith("Exchange failed: ")
    assert files(tmp_path) == {}


async def test_a_file_that_is_a_link_is_neither_written_nor_read(running: RunningEngine, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    for folder in ("out", "in"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").symlink_to(secret)
    told = await write(running, "to: file:out?fileName=a.txt")
    assert "is not a plain file" in told[0]
    await running.start("reading", route("file:in", LOG, **QUICK))
    await asyncio.sleep(0.1)
    assert len(running.listener.messages) == 1
    assert secret.read_text() == "secret"


@pytest.mark.parametrize("folder", ["{other}", "../other", "link", "{allowed}/../other"])
async def test_only_folders_that_the_agent_allows_are_used(tmp_path: Path, folder: str) -> None:
    allowed, other = tmp_path / "allowed", tmp_path / "other"
    allowed.mkdir()
    other.mkdir()
    (allowed / "link").symlink_to(other)
    fill(other, a_txt="secret")
    name = folder.format(allowed=allowed, other=other)
    async with engine(allowed) as running:
        with pytest.raises(Forbidden, match="is in none of the folders"):
            await running.start("reading", route(f"file:{name}", LOG, **QUICK))
        told = await write(running, f"to: file:{name}?fileName=b.txt")
        assert "is in none of the folders" in told[0]
    assert files(other) == {"a.txt": "secret"}


async def test_a_file_is_not_moved_out_of_the_allowed_folders(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    fill(allowed / "in", a_txt="1")
    async with engine(allowed) as running:
        await running.start("moving", route("file:in", LOG, move=str(tmp_path / "out"), **QUICK))
        await eventually(lambda: any("is in none of the folders" in told for told in running.listener.messages))
    assert files(tmp_path) == {"allowed/in/a.txt": "1"}


async def test_without_folders_no_file_is_touched() -> None:
    async with running_engine() as running:
        with pytest.raises(Forbidden, match="PENSTOCK_AGENT_LOCAL_FOLDERS"):
            await running.start("reading", route("file:in", LOG))
