"""`penstock up` as a user runs it: real processes, stopped, killed and started again."""

import asyncio
import re
import signal
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import psutil
import pytest

from penstock.client.model import ScheduleEvent
from tests.installation import PATIENCE, Place, command_of
from tests.nats_server import free_port

pytestmark = pytest.mark.timeout(180)

STREAM = "schedule-hello"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def runs_of(place: Place) -> list[ScheduleEvent]:
    """The finished runs of the example, oldest first."""
    ended = await place.terminal.run("stream", STREAM, "-n", "100", "-o", "json")
    assert ended.code == 0, ended.err
    told = [msgspec.json.decode(line)["Data"] for line in ended.out.splitlines()]
    return [msgspec.convert(each, ScheduleEvent) for each in told if each["Event"] == "RunFinished"]


async def run_after(place: Place, known: list[ScheduleEvent]) -> ScheduleEvent:
    """Waits for a run that started after those known."""
    last = max((run.started for run in known if run.started), default=None)
    while True:
        for run in await runs_of(place):
            if run.started and (last is None or run.started > last):
                return run
        await asyncio.sleep(0.2)


async def gone(processes: list[psutil.Process]) -> None:
    """Returns when none of them runs any more."""
    async with asyncio.timeout(PATIENCE):
        while any(_runs(each) for each in processes):
            await asyncio.sleep(0.05)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await condition():
            await asyncio.sleep(0.1)


async def test_the_first_start_shows_the_way_in_and_something_running(place: Place) -> None:
    async with place.up() as up:
        await up.shows("Its first run")
        await up.shows("Ctrl-C stops everything")
        assert f"Address    http://127.0.0.1:{place.port}" in up.shown
        assert "Hello from Penstock" in up.shown
        found = re.search(r"User name  admin\n  Password   (\S+) ", up.shown)
        assert found is not None

        agents = await place.terminal.run("get", "agents", "-o", "json")
        assert [agent["CurrentStatusEnum"] for agent in msgspec.json.decode(agents.out)] == [1]
        place.terminal.sessions.unlink()
        login = await place.terminal.run("login", "--username", "admin", "--password-stdin", given=found[1])
        assert login.code == 0, login.err

        processes = up.processes()
        assert len(processes) >= 4
        ended = await up.interrupt()
        assert ended.code == 0
        assert ended.out.endswith("Stopping ...\nStopped.\n")
        await gone(processes)
    kept = [path for path in place.data.rglob("*") if path.is_file()]
    assert all(found[1] not in path.read_text(errors="replace") for path in kept)
    assert all(path.stat().st_mode & 0o077 == 0 for path in kept if path.suffix in (".db", ".json", ".log", ".conf"))


async def test_a_second_start_finds_everything_as_it_was(place: Place) -> None:
    async with place.up() as up:
        await up.shows("Ctrl-C stops everything")
        runs = await runs_of(place)
        agents = (await place.terminal.run("get", "agents", "-o", "json")).out
        await up.interrupt()
    async with place.up() as up:
        await up.shows("with everything as it was")
        await up.shows("Ctrl-C stops everything")
        assert "Password" not in up.shown
        again = await runs_of(place)
        assert [run.started for run in again][: len(runs)] == [run.started for run in runs]
        ids = [
            agent["Id"] for agent in msgspec.json.decode((await place.terminal.run("get", "agents", "-o", "json")).out)
        ]
        assert ids == [agent["Id"] for agent in msgspec.json.decode(agents)]
        assert (await run_after(place, again)).exit_code == 0


async def test_a_removed_example_does_not_come_back(place: Place) -> None:
    absent = "apiVersion: penstock/v1alpha1\nkind: Schedule\nmetadata: {name: hello, state: absent}\n"
    async with place.up() as up:
        await up.shows("Ctrl-C stops everything")
        assert (await place.terminal.run("apply", "-f", "-", given=absent)).code == 0
        await up.interrupt()
    async with place.up() as up:
        await up.shows("with everything as it was")
        assert msgspec.json.decode((await place.terminal.run("get", "schedules", "-o", "json")).out) == []


@pytest.mark.parametrize("victim", ["penstock.cli.main serve", "penstock.cli.main agent", "nats-server"])
async def test_a_process_that_is_killed_comes_back_and_the_schedule_goes_on(place: Place, victim: str) -> None:
    async with place.up() as up:
        await up.shows("Ctrl-C stops everything")
        known = await runs_of(place)
        killed = up.child(victim)
        killed.kill()
        await gone([killed])

        async def is_back() -> bool:
            return any(victim in command_of(each) and each.pid != killed.pid for each in up.processes())

        async def is_reached() -> bool:
            return (await place.terminal.run("stream", STREAM)).code == 0

        await until(is_back)
        await until(is_reached)
        again = await runs_of(place)
        assert [run.started for run in again][: len(known)] == [run.started for run in known]
        assert (await run_after(place, again)).exit_code == 0
        processes = up.processes()
        assert (await up.interrupt()).code == 0
        await gone(processes)


async def test_who_follows_a_stream_misses_nothing_when_the_server_is_killed(place: Place) -> None:
    async with place.up() as up:
        await up.shows("Ctrl-C stops everything")
        async with place.terminal.running("stream", STREAM, "-n", "1", "--follow") as output:
            first = int((await output.readline()).split()[0])
            server = up.child("penstock.cli.main serve")
            server.kill()
            await gone([server])
            sequences = [int((await output.readline()).split()[0]) for _ in range(4)]
            assert sequences == [first + n for n in range(1, 5)]


async def test_nothing_stays_when_it_is_killed_itself(place: Place) -> None:
    async with place.up() as up:
        await up.shows("Ctrl-C stops everything")
        processes = up.processes()
        up.send(signal.SIGKILL)
        await gone(processes)


async def test_a_second_interrupt_kills_what_does_not_stop(place: Place) -> None:
    async with place.up() as up:
        await up.shows("Ctrl-C stops everything")
        processes = up.processes()
        for words in ("penstock.cli.main serve", "penstock.cli.main agent"):
            up.child(words).suspend()
        up.send(signal.SIGINT)
        await up.shows("Stopping ...")
        up.send(signal.SIGINT)
        ended = await up.end()
        assert "The server does not stop and is killed." in ended.out
        await gone(processes)


async def test_it_is_light(place: Place) -> None:
    async with place.up() as up:
        await up.shows("Ctrl-C stops everything")
        assert psutil.Process(up.pid).memory_info().rss < 30 * 2**20
        agent = up.child("penstock.cli.main agent")
        assert not [name for name in agent.environ() if name.startswith("PENSTOCK_") and "_AGENT_" not in name]


async def test_a_password_that_is_given_is_taken_and_not_shown(place: Place) -> None:
    async with place.up(PENSTOCK_ADMIN_PASSWORD="chosen by hand") as up:
        await up.shows("Ctrl-C stops everything")
        assert "chosen by hand" not in up.shown
        place.terminal.sessions.unlink()
        ended = await place.terminal.run("login", "--username", "admin", "--password-stdin", given="chosen by hand")
        assert ended.code == 0


async def test_a_password_that_is_given_later_replaces_the_one_of_before(place: Place) -> None:
    async with place.up() as up:
        await up.shows("Applying the example")
        await up.interrupt()
    async with place.up(PENSTOCK_ADMIN_PASSWORD="chosen by hand") as up:
        await up.shows("Applying the example")
        ended = await place.terminal.run("login", "--password-stdin", given="chosen by hand")
        assert ended.code == 0, ended.err


async def test_a_first_start_that_is_killed_before_the_password_was_shown_is_made_good(place: Place) -> None:
    async with place.up() as up:
        while not (place.data / "first-password").exists():  # written just before the Admin is
            await asyncio.sleep(0.005)
        processes = up.processes()
        up.send(signal.SIGKILL)
        await gone(processes)
        shown_before = (await up.end()).out
    password = (place.data / "first-password").read_text()
    assert password not in shown_before
    async with place.up() as up:
        await up.shows("Ctrl-C stops everything")
        assert f"Password   {password} " in up.shown
        assert "Hello from Penstock" in up.shown
        assert (await place.terminal.run("login", "--password-stdin", given=password)).code == 0
        assert password not in "".join(each for process in up.processes() for each in process.environ().values())
        assert password not in "".join(map(command_of, up.processes()))
    assert not (place.data / "first-password").exists()


@pytest.mark.parametrize("moment", ["secret-key", "penstock.db", "bus-keys.json", "nats/port", "agent/token"])
async def test_a_first_start_may_be_killed_at_any_moment(place: Place, moment: str) -> None:
    async with place.up() as up:
        while not (place.data / moment).exists():
            await asyncio.sleep(0.001)
        for process in reversed(up.processes()):
            process.kill()
        await up.end()
    async with place.up() as up:
        await up.shows("Applying the example")
        assert "Password   " in up.shown


async def test_modules_in_the_working_directory_do_not_stand_in_for_others(place: Place) -> None:
    for name in ("penstock", "msgspec", "secrets", "yaml"):
        (place.folder / f"{name}.py").write_text("raise SystemExit('read from the working directory')")
    async with place.up() as up:
        await up.shows("Applying the example")
        assert up.child("penstock.flow.commands.watchdog")


async def test_two_of_them_do_not_share_a_folder(place: Place) -> None:
    async with place.up() as up:
        await up.shows("Starting the server")
        ended = await place.attempt(PENSTOCK_PORT=str(free_port()))
    assert ended.code == 1
    assert f"Process {up.pid} at http://127.0.0.1:{place.port} runs on the data folder" in ended.out
    assert "PENSTOCK_DATA" in ended.out


async def test_a_port_that_is_taken_is_told(place: Place) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", place.port))
        taken.listen()
        ended = await place.attempt()
    assert ended.code == 1
    assert f"127.0.0.1:{place.port} cannot be used" in ended.out
    assert "PENSTOCK_PORT" in ended.out


async def test_a_setting_that_stops_the_server_is_told(place: Place) -> None:
    ended = await place.attempt(PENSTOCK_ACCESS_TOKEN_MINUTES="0", PENSTOCK_PROT="1")
    assert ended.code == 1
    assert "PENSTOCK_ACCESS_TOKEN_MINUTES: must be at least 1" in ended.out
    assert "PENSTOCK_PROT: is not a setting; did you mean PENSTOCK_PORT?" in ended.out


async def test_a_setting_that_stops_the_agent_is_told(place: Place) -> None:
    ended = await place.attempt(PENSTOCK_AGENT_OUTBOX_MB="0")
    assert ended.code == 1
    assert "PENSTOCK_AGENT_OUTBOX_MB: must be at least 1" in ended.out
    assert "Password" not in ended.out


async def test_why_the_agent_ends_again_and_again_is_told(place: Place) -> None:
    identity = place.data / "agent" / "identity.json"
    identity.parent.mkdir(parents=True)
    identity.write_text("{")
    async with place.up() as up:
        await up.shows("The agent ended with exit code")
        await up.shows(f"{identity} cannot be read")


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("secret-key", b"\xff\x00"),
        ("bus-keys.json", b"{"),
        ("penstock.db", b"text" * 1000),
        ("logs", b"not a folder"),
    ],
)
async def test_a_damaged_file_is_named(place: Place, file: str, content: bytes) -> None:
    (place.data / file).parent.mkdir(parents=True)
    (place.data / file).write_bytes(content)
    ended = await place.attempt()
    assert ended.code == 1
    assert str(place.data / file) in ended.out
    assert "Traceback" not in ended.out
