"""The python step: real processes, which end with their flow."""

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from penstock.flow.commands.orphans import marked
from penstock.flow.definition import FlowDefinition
from penstock.flow.parsing.parser import parse_flow
from penstock.kernel.errors import PenstockError
from penstock.packages.environment import Environments
from penstock.packages.index import PackageIndex
from tests.conformance.running_engine import RunningEngine, eventually, running_engine
from tests.conformance.timed_flows import NO_GRACE, timer
from tests.wheel import wheel

ONCE = "delay=0&repeatCount=1"


async def logged(*steps: str) -> list[str]:
    async with running_engine() as running:
        await running.start("code", timer(ONCE, *steps))
        await running.settled("code")
        return running.listener.messages


def caught(step: str, name: str = "java.lang.Exception") -> str:
    return f"doTry: {{steps: [{step}], doCatch: [{{exception: [{name}], steps: [log: '${{exception.message}}']}}]}}"


def own_processes(running: RunningEngine) -> list[int]:
    return marked("PENSTOCK_AGENT_RUN", running.marker)


async def test_code_changes_body_headers_and_properties_and_what_it_prints_is_logged() -> None:
    changes = "body = body.upper()", "headers['n'] = [1, 2]", "del headers['gone']", "properties['p'] = {'a': None}"
    script = "\\n".join((*changes, "print('hi')"))
    lines = await logged(
        "setBody: {constant: abc}",
        "setHeader: {name: gone, constant: x}",
        f'python: "{script}"',
        "log: '${body} ${headers} ${exchangeProperty.p}'",
    )
    assert lines == ["hi", "ABC {n=[1, 2]} {a=null}"]


async def test_an_expressions_value_is_the_new_body() -> None:
    expression = "python: {expression: '{len(part): part for part in body.split()}'}"
    assert await logged("setBody: {constant: a bb}", expression, "log: '${body}'") == ["{1=a, 2=bb}"]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("python: 'body.absent'", "AttributeError: "),
        ("python: 'import sys; sys.exit(3)'", "SystemExit: 3"),
        ("python: 'import os; os._exit(3)'", "the code's process ended with 3"),
        ("python: {script: 'while True: pass', timeout: 200}", "time limit of 0:00:00.200000"),
        ("python: 'body = object()'", "TypeError: Object of type object is not JSON serializable"),
        ("python: 'import msgspec'", "No module named 'msgspec'"),
    ],
)
async def test_code_that_fails_lets_the_exchange_fail_and_the_next_message_finds_a_process(
    step: str, words: str
) -> None:
    first, second = await logged(caught(step), "python: {expression: '1 + 1'}", "log: '${body}'")
    assert words in first
    assert second == "2"


async def test_an_error_says_on_which_line_of_the_code_it_happened() -> None:
    (line,) = await logged(caught(r'python: "x = 1\nraise ValueError(x)"', "java.lang.IllegalArgumentException"))
    assert line.startswith("ValueError: 1\n")
    assert 'File "<python step>", line 2' in line
    assert str(Path(__file__).parents[2]) not in line


async def test_one_process_serves_all_messages_of_a_step_and_ends_with_the_flow() -> None:
    async with running_engine() as running:
        step = "python: {expression: '__import__(\"os\").getpid()'}"
        await running.start("code", timer("delay=0&period=1&repeatCount=5", step, "log: '${body}'"))
        await running.settled("code", 5)
        assert len(set(running.listener.messages)) == 1
        assert [str(process) for process in own_processes(running)] == running.listener.messages[:1]
        await running.engine.stop("code", NO_GRACE)
        assert own_processes(running) == []


async def test_a_flow_that_is_stopped_ends_code_that_still_runs() -> None:
    async with running_engine() as running:
        await running.start("code", timer(ONCE, "python: 'import time; time.sleep(600)'"))
        await eventually(lambda: bool(own_processes(running)))
        await asyncio.sleep(0)
        await running.engine.stop("code", NO_GRACE)
        assert own_processes(running) == []


async def test_code_sees_nothing_of_the_agents_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_TOKEN", "secret")
    step = 'python: {expression: \'"PENSTOCK_TOKEN" in __import__("os").environ\'}'
    assert await logged(step, "log: '${body}'") == ["false"]


def with_packages(*packages: str) -> FlowDefinition:
    source = timer(ONCE, "python: {expression: '__import__(\"acme_text\").GREETING'}", "log: '${body}'")
    return msgspec.structs.replace(parse_flow("code", "1", source), packages=packages)


def environments(folder: Path) -> Environments:
    wheel(folder / "wheels", "acme-text", "1.0.0", {"acme_text/__init__.py": "GREETING = 'hello'\n"}, "")
    return Environments(folder / "made", PackageIndex("none", str(folder / "wheels"), os.environ), platform=False)


async def test_code_finds_the_packages_that_its_flow_asks_for(tmp_path: Path) -> None:
    async with running_engine(environments=environments(tmp_path)) as running:
        await running.engine.start(with_packages("acme-text>=1", "org.apache.camel:camel-ftp:4.18.0"))
        await running.settled("code")
    assert running.listener.messages == ["hello"]


@pytest.mark.parametrize(
    ("package", "words"), [("acme-absent", "acme-absent"), ("--index-url=x", "is not a requirement like 'pandas>=2'")]
)
async def test_a_package_that_cannot_be_had_keeps_the_flow_from_starting(
    package: str, words: str, tmp_path: Path
) -> None:
    async with running_engine(environments=environments(tmp_path)) as running:
        with pytest.raises(PenstockError, match=words):
            await running.engine.start(with_packages(package))
        assert running.engine.names() == []
