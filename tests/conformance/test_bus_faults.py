"""The bus while its server dies, hangs and comes back."""

import asyncio
import os
import signal
import sys
import textwrap
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest

from penstock.bus.bus import Bus
from penstock.bus.configuration import server_configuration
from penstock.bus.consumer import Consumer, ConsumerSpec
from penstock.bus.credentials import BusKeys
from penstock.bus.due import Due, due_consumer
from penstock.bus.embedded import EmbeddedServer
from penstock.bus.follow import Start, follow
from penstock.bus.message import Ack, Delivered, Received
from penstock.bus.reader import StreamReader
from penstock.bus.server_process import ServerProcess
from penstock.bus.streams import Streams, StreamSpec
from penstock.kernel.errors import Unavailable
from tests.nats_server import eventually, free_port

STREAM = "s"


@pytest.fixture
def keys() -> BusKeys:
    return BusKeys.generate()


@pytest.fixture
async def server(tmp_path: Path, keys: BusKeys) -> AsyncIterator[EmbeddedServer]:
    async with EmbeddedServer(tmp_path / "nats", keys) as server:
        yield server


@pytest.fixture
async def bus(server: EmbeddedServer, keys: BusKeys) -> AsyncIterator[Bus]:
    async with await Bus.connect(server.url, keys.server_user(), name="test") as bus:
        await Streams(bus).ensure(StreamSpec(name=STREAM, subjects=["s.>"]))
        yield bus


def kill(server: EmbeddedServer) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)


async def test_nothing_acknowledged_is_lost_and_nothing_doubled_when_the_server_is_killed_under_load(
    server: EmbeddedServer, bus: Bus
) -> None:
    acks: dict[bytes, Ack] = {}
    stop = False

    async def publish(worker: int) -> None:
        number = 0
        while not stop:
            body = b"%d.%d" % (worker, number)
            acks[body] = await bus.publish("s.x", body, timeout=30)
            number += 1

    async with asyncio.TaskGroup() as group:
        for worker in range(16):
            group.create_task(publish(worker))
        for kills in range(1, 4):
            acknowledged = len(acks)
            await eventually(lambda least=acknowledged + 300: len(acks) > least)  # type: ignore[misc]
            kill(server)
            await eventually(lambda wanted=kills: server.restarts == wanted)  # type: ignore[misc]
        acknowledged = len(acks)
        await eventually(lambda: len(acks) > acknowledged + 300)
        stop = True

    stored = await StreamReader(bus).after(STREAM, 0, count=len(acks) + 100)
    assert sorted(message.data for message in stored) == sorted(acks)
    places = {message.data: message.sequence for message in stored}
    assert all(places[body] == ack.sequence for body, ack in acks.items())


async def test_a_consumer_goes_on_after_the_server_was_killed(server: EmbeddedServer, bus: Bus) -> None:
    seen: set[bytes] = set()

    async def handle(message: Delivered) -> None:
        seen.add(message.data)

    consumer = Consumer(bus, ConsumerSpec(stream=STREAM, name="c", ack_seconds=2))
    running = asyncio.create_task(consumer.run(handle))
    await bus.publish("s.x", b"before")
    await eventually(lambda: seen == {b"before"})
    kill(server)
    await bus.publish("s.x", b"after", timeout=30)
    await eventually(lambda: seen == {b"before", b"after"})
    running.cancel()
    await asyncio.wait([running])


async def test_a_consumer_whose_server_was_away_when_it_started_begins_later(server: EmbeddedServer, bus: Bus) -> None:
    seen: list[bytes] = []

    async def handle(message: Delivered) -> None:
        seen.append(message.data)

    await bus.publish("s.x", b"1")
    kill(server)
    await eventually(lambda: not bus.connected)
    running = asyncio.create_task(Consumer(bus, ConsumerSpec(stream=STREAM, name="c")).run(handle))
    await eventually(lambda: seen == [b"1"])
    running.cancel()
    await asyncio.wait([running])


@pytest.mark.parametrize("pace", [0.0, 0.02])
async def test_following_goes_on_without_gap_or_double(server: EmbeddedServer, bus: Bus, pace: float) -> None:
    async with follow(bus, STREAM, Start(after=0), pace=pace) as feed:
        for number in range(1, 4):
            await bus.publish("s.x", b"%d" % number)
            assert (await anext(feed)).sequence == number
        kill(server)
        for number in range(4, 7):
            await bus.publish("s.x", b"%d" % number, timeout=30)
            assert (await anext(feed)).sequence == number


async def test_following_new_messages_misses_none_that_came_while_the_server_was_away(
    server: EmbeddedServer, bus: Bus
) -> None:
    await bus.publish("s.x", b"old")
    async with follow(bus, STREAM, Start(new=True)) as feed:
        kill(server)
        for number in range(2, 5):
            await bus.publish("s.x", b"%d" % number, timeout=30)
        assert [(await anext(feed)).sequence for _ in range(3)] == [2, 3, 4]


async def test_subscriptions_and_responders_are_back_after_a_restart(server: EmbeddedServer, bus: Bus) -> None:
    heard: list[bytes] = []

    async def note(message: Received) -> None:
        heard.append(message.data)

    async def echo(request: Received) -> bytes:
        return request.data

    await bus.subscribe("news", note)
    await bus.respond("echo", echo, queue="q")
    kill(server)
    await eventually(lambda: not bus.connected)
    assert (await bus.request("echo", b"x", timeout=30)).data == b"x"
    await bus.notify("news", b"y")
    await eventually(lambda: heard == [b"y"])


async def test_a_schedule_survives_the_server(server: EmbeddedServer, bus: Bus) -> None:
    seen: list[bytes] = []

    async def handle(message: Delivered) -> None:
        seen.append(message.data)

    due = Due(bus)
    await due.ensure()
    running = asyncio.create_task(Consumer(bus, due_consumer("t")).run(handle))
    await due.schedule("a", datetime.now(UTC) + timedelta(seconds=2), "t", b"later")
    kill(server)
    await eventually(lambda: seen == [b"later"])
    running.cancel()
    await asyncio.wait([running])


async def test_publish_is_unavailable_while_the_server_hangs_and_the_message_is_stored_once_after(
    server: EmbeddedServer, bus: Bus
) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    await eventually(lambda: psutil.Process(server.pid).status() == psutil.STATUS_STOPPED)
    try:
        with pytest.raises(Unavailable):
            await bus.publish("s.x", b"1", message_id="same", timeout=0.5)
    finally:
        os.kill(server.pid, signal.SIGCONT)
    await bus.publish("s.x", b"1", message_id="same")
    assert (await Streams(bus).info(STREAM)).messages == 1


async def test_a_server_that_hangs_is_given_up_and_found_again(server: EmbeddedServer, keys: BusKeys) -> None:
    async with await Bus.connect(server.url, keys.server_user(), name="test", silence=0.5) as bus:
        await Streams(bus).ensure(StreamSpec(name=STREAM, subjects=["s.>"]))
        assert server.pid is not None
        os.kill(server.pid, signal.SIGSTOP)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(100):  # more than the sockets hold
                    group.create_task(bus.notify("s.x", bytes(200_000)))
            await eventually(lambda: not bus.connected)
        finally:
            os.kill(server.pid, signal.SIGCONT)
        assert (await bus.publish("s.x", b"1", timeout=30)).stream == STREAM


async def test_a_server_killed_while_messages_are_on_their_way_is_noticed_at_once(
    server: EmbeddedServer, keys: BusKeys
) -> None:
    async with await Bus.connect(server.url, keys.server_user(), name="test", silence=300) as bus:

        async def flood() -> None:
            while bus.connected:
                await bus.notify("news", bytes(2000))
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            for _ in range(30):
                group.create_task(flood())
            await asyncio.sleep(0.1)
            kill(server)
        await eventually(lambda: bus.connected)


async def test_a_request_under_way_fails_at_once_when_the_server_dies(server: EmbeddedServer, bus: Bus) -> None:
    asked = asyncio.Event()

    async def never(request: Received) -> bytes:
        asked.set()
        await asyncio.Event().wait()
        return b""

    responder = await bus.respond("never", never, queue="q")
    request = asyncio.create_task(bus.request("never", timeout=300))
    await asked.wait()
    kill(server)
    with pytest.raises(Unavailable):
        await request
    await responder.cancel()


async def test_connecting_to_no_server_is_unavailable(keys: BusKeys) -> None:
    with pytest.raises(Unavailable):
        await Bus.connect(f"nats://127.0.0.1:{free_port()}", keys.server_user(), name="test")


async def test_a_restart_has_the_same_port_and_messages(tmp_path: Path, keys: BusKeys) -> None:
    urls = []
    for number in range(2):
        async with EmbeddedServer(tmp_path, keys) as server:
            urls.append(server.url)
            async with await Bus.connect(server.url, keys.server_user(), name="test") as bus:
                await Streams(bus).ensure(StreamSpec(name=STREAM, subjects=["s.>"]))
                assert (await bus.publish("s.x", b"1")).sequence == number + 1
    assert urls[0] == urls[1]


async def test_a_second_server_on_the_folder_is_refused(tmp_path: Path, server: EmbeddedServer, keys: BusKeys) -> None:
    with pytest.raises(Unavailable, match="Another process"):
        await EmbeddedServer(tmp_path / "nats", keys).start()
    assert server.pid is not None
    assert psutil.pid_exists(server.pid)


def test_an_ipv6_address_stands_in_brackets(tmp_path: Path, keys: BusKeys) -> None:
    assert EmbeddedServer(tmp_path, keys, "::1", 4222).url == "nats://[::1]:4222"
    assert 'listen: "[::1]:4222"' in server_configuration(keys, host="::1", port=4222, store=tmp_path)


async def test_an_address_of_another_machine_is_named_as_the_reason(tmp_path: Path, keys: BusKeys) -> None:
    with pytest.raises(Unavailable, match=r"cannot listen on 192\.0\.2\.1"):
        await EmbeddedServer(tmp_path, keys, "192.0.2.1").start()


@pytest.mark.parametrize("remembered", ["nonsense", "99999", "", "\udcff"])
async def test_a_port_that_cannot_be_remembered_is_chosen_anew(tmp_path: Path, keys: BusKeys, remembered: str) -> None:
    (tmp_path / "port").write_text(remembered, errors="surrogateescape")
    async with EmbeddedServer(tmp_path, keys) as server:
        assert (tmp_path / "port").read_text() == server.url.rpartition(":")[2]


async def test_a_port_in_use_is_named_as_the_reason(tmp_path: Path, server: EmbeddedServer, keys: BusKeys) -> None:
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(Unavailable, match="address already in use"):
        await EmbeddedServer(tmp_path / "second", keys, port=port).start()


async def test_stopping_leaves_no_process(tmp_path: Path, keys: BusKeys) -> None:
    server = EmbeddedServer(tmp_path, keys)
    await server.start()
    pid = server.pid
    await server.stop()
    assert pid is not None
    assert not psutil.pid_exists(pid)


async def test_stopping_while_the_server_is_down_leaves_no_process(tmp_path: Path, keys: BusKeys) -> None:
    server = EmbeddedServer(tmp_path, keys)
    await server.start()
    kill(server)
    await server.stop()
    assert not [c for c in psutil.Process().children() if str(tmp_path) in " ".join(c.cmdline())]


async def test_the_configuration_is_readable_by_its_owner_only(tmp_path: Path, keys: BusKeys) -> None:
    async with EmbeddedServer(tmp_path, keys):
        assert (tmp_path / "nats-server.conf").stat().st_mode & 0o077 == 0


async def test_a_server_left_from_an_earlier_run_is_ended_first(tmp_path: Path, keys: BusKeys) -> None:
    first = EmbeddedServer(tmp_path, keys)
    await first.start()
    await first.stop()
    left = await ServerProcess.launch(tmp_path / "nats-server.conf")
    await left.ready()
    async with EmbeddedServer(tmp_path, keys) as server:
        assert left.exited.done()
        assert server.pid != left.pid


async def test_a_pid_that_now_belongs_to_something_else_is_left_alone(tmp_path: Path, keys: BusKeys) -> None:
    tmp_path.joinpath("nats-server.pid").write_text(str(os.getpid()))
    async with EmbeddedServer(tmp_path, keys):
        pass


async def test_the_server_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = f"""
        import asyncio, pathlib
        from penstock.bus.credentials import BusKeys
        from penstock.bus.embedded import EmbeddedServer
        async def main():
            async with EmbeddedServer(pathlib.Path({str(tmp_path)!r}), BusKeys.generate()) as server:
                print(server.pid, flush=True)
                await asyncio.Event().wait()
        asyncio.run(main())
    """
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(script), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    async for line in parent.stdout:
        if line.strip().isdigit():
            break
    child = psutil.Process(int(line))
    parent.kill()
    await parent.wait()
    await eventually(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


async def test_whoever_stops_connecting_is_stopped(server: EmbeddedServer, keys: BusKeys) -> None:
    for pauses in range(60):
        connecting = asyncio.create_task(Bus.connect(server.url, keys.server_user(), name="test"))
        for _ in range(pauses):
            await asyncio.sleep(0.0002)
        stopped = connecting.cancel()
        await asyncio.wait([connecting])
        assert connecting.cancelled() == stopped
        if not stopped:
            await connecting.result().close()
