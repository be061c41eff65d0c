"""Flows run on Camel, each in a Java process, and nothing of them is left behind."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from penstock.flow.camel.class_path import PackagesMissing
from penstock.flow.camel.engine import CamelEngine
from penstock.flow.camel.flow_process import CamelFailed
from penstock.flow.camel.installation import NotInstalled
from penstock.flow.camel.settings import CamelSettings
from penstock.flow.commands.command import base_environment
from penstock.flow.definition import FlowDefinition
from penstock.flow.http.http_server import HttpServer
from penstock.flow.variables import Variable
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import NotFound
from tests.unit.flow_listener import RememberingListener

pytestmark = pytest.mark.timeout(300)  # a Java process takes its time on a busy machine

_SECRET = "k5-secret"
_GRACE = timedelta(seconds=5)
_VARIABLES = {"GREETING": Variable("hello"), "KEY": Variable(_SECRET, is_secret=True)}


async def _resolve(name: str) -> Variable:
    if name not in _VARIABLES:
        raise NotFound.of("variable", name)
    return _VARIABLES[name]


def _flow(source: str, name: str = "web", version: str = "1", **more: object) -> FlowDefinition:
    return FlowDefinition(name, version, source, (), **more)  # type: ignore[arg-type]


def _web(steps: str) -> str:
    return f"- route: {{id: web, from: {{uri: 'platform-http:/web', steps: [{steps}]}}}}"


class Bench:
    """An engine with its surroundings."""

    def __init__(self, engine: CamelEngine, server: HttpServer, listener: RememberingListener) -> None:
        self.engine = engine
        self.listener = listener
        self._server = server

    async def post(self, body: str) -> httpx.Response:
        async with httpx.AsyncClient(trust_env=False) as client:
            return await client.post(f"http://127.0.0.1:{self._server.port}/web", content=body)

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not holds():
                await asyncio.sleep(0.05)


def _settings(folder: Path, engines: Path) -> CamelSettings:
    return CamelSettings(
        folder=folder,
        engines=(engines,),
        environment={**base_environment(os.environ), "PENSTOCK_AGENT_RUN": "test"},
        own_environment=os.environ,
    )


@pytest.fixture
async def bench(engines: Path, tmp_path: Path) -> AsyncIterator[Bench]:
    listener = RememberingListener()
    async with (
        HttpServer("127.0.0.1", 0, 1 << 20) as server,
        CamelEngine(SystemClock(), listener, _resolve, _settings(tmp_path / "camel", engines), server) as engine,
    ):
        yield Bench(engine, server, listener)
    assert not list((tmp_path / "camel" / "runs").glob("*/*"))


async def test_a_flow_runs_is_counted_replaced_and_stopped(bench: Bench) -> None:
    engine = bench.engine
    await engine.start(_flow(_web("{log: 'got ${body} {{var:KEY}}'}, {setBody: {simple: '{{var:GREETING}} ${body}'}}")))
    assert (await bench.post("you")).text == "hello you"
    await bench.until(lambda: engine.status("web").statistics.exchanges_total == 1)
    first = engine.status("web")
    os.kill(first.pid, 0)
    assert Path(f"/proc/{first.pid}/comm").read_text() == "java\n"
    assert first.statistics.since_last_completed_exchange is not None
    [line] = [each for each in bench.listener.lines if each.logger == "web"]
    assert line.message.endswith("******")
    assert line.exchange_id
    command = Path(f"/proc/{first.pid}/cmdline").read_bytes() + Path(f"/proc/{first.pid}/environ").read_bytes()
    assert _SECRET.encode() not in command

    await engine.start(_flow(_web("{setBody: {constant: second}}"), version="2"))
    assert (await bench.post("you")).text == "second"
    second = engine.status("web")
    assert (second.version, second.statistics.reloaded) == ("2", 1)
    assert not Path(f"/proc/{first.pid}").exists()

    with pytest.raises(CamelFailed, match="nonsense"):
        await engine.start(_flow(_web("{to: {uri: 'file:/tmp?fileExist=nonsense'}}"), version="3"))
    assert (await bench.post("you")).text == "second"

    await engine.stop("web", _GRACE)
    assert engine.names() == []
    assert not Path(f"/proc/{second.pid}").exists()
    assert (await bench.post("you")).status_code == 404


async def test_a_failure_is_counted_and_told_with_its_exception(bench: Bench) -> None:
    thrown = "{throwException: {exceptionType: java.lang.IllegalStateException, message: 'it broke {{var:KEY}}'}}"
    await bench.engine.start(_flow(_web(thrown)))
    assert (await bench.post("x")).status_code == 500
    await bench.until(lambda: bench.engine.status("web").statistics.exchanges_failed == 1)
    [line] = [each for each in bench.listener.lines if each.exception_type]
    assert line.exception_type == "java.lang.IllegalStateException"
    assert line.exception_message == "it broke ******"
    assert _SECRET not in str(line)


async def test_a_process_that_dies_is_told_as_the_crash_of_its_flow(bench: Bench) -> None:
    await bench.engine.start(_flow(_web("{setBody: {constant: a}}")))
    os.kill(bench.engine.status("web").pid, 9)
    await bench.until(lambda: bool(bench.listener.failures))
    [(flow, version, reason)] = bench.listener.failures
    assert (flow, version) == ("web", "1")
    assert "ended by signal 9" in reason


async def test_a_package_that_cannot_be_had_is_named(bench: Bench) -> None:
    with pytest.raises(PackagesMissing, match=r"org\.example\.penstock:nothing:1"):
        await bench.engine.start(_flow(_web("{log: a}"), packages=("org.example.penstock:nothing:1",)))


async def test_a_variable_that_is_not_there_keeps_the_flow_from_starting(bench: Bench) -> None:
    with pytest.raises(NotFound, match="NOBODY"):
        await bench.engine.start(_flow(_web("{setBody: {constant: '{{var:NOBODY}}'}}")))


async def test_files_beside_the_flow_are_found(bench: Bench, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "greeting.txt").write_text("from a file: ${body}")
    step = "{setBody: {simple: 'resource:classpath:greeting.txt'}}"
    await bench.engine.start(_flow(_web(step), folder=files))
    assert (await bench.post("x")).text == "from a file: x"


async def test_without_an_installation_the_command_that_makes_one_is_named(tmp_path: Path) -> None:
    engine = CamelEngine(SystemClock(), RememberingListener(), _resolve, _settings(tmp_path, tmp_path / "none"))
    with pytest.raises(NotInstalled, match="penstock engine install camel"):
        engine.check()


async def test_a_start_that_is_given_up_leaves_no_process(bench: Bench) -> None:
    starting = asyncio.create_task(bench.engine.start(_flow(_web("{setBody: {constant: a}}"))))
    await bench.until(lambda: bool(bench.listener.lines))
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert bench.engine.names() == []
