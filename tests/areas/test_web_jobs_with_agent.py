"""Web jobs with a real agent: kept running, run when due, ended with whatever they belong to."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.application import Application
from tests.areas.agent_program import agent_program, pending_token
from tests.areas.files import files_that_contain
from tests.areas.resource_suite import Entity, configured
from tests.areas.test_web_jobs import PATH, get, make
from tests.areas.waiting import until
from tests.wheel import program_wheel

EACH_SECOND = "* * * * * ?"
SECRET = "the s3cret of the job"
ACME = """import importlib.util, os, sys
    print("acme", sys.argv[1:], os.environ["GREETING"], importlib.util.find_spec("penstock"))"""


class Agent:
    """An agent of its own environment, in a folder that stays over restarts."""

    def __init__(self, application: Application, folder: Path, token: str, name: str) -> None:
        self._application = application
        self._token = token
        self.folder = folder
        self.name = name
        self.needs = [{"Identifier": "Environment", "Value": name}]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Any]:
        packages = {"PACKAGE_INDEX": "none", "PACKAGE_FOLDER": str(self.folder / "wheels")}
        async with agent_program(
            self._application, self.folder / "agent", self._token, self.name, **packages
        ) as process:
            yield process


@pytest.fixture
async def agent(application: Application, tmp_path: Path, name: str) -> Agent:
    program_wheel(tmp_path / "wheels", "acme-job", ACME)
    return Agent(application, tmp_path, await pending_token(application), name)


def script(agent: Agent, text: str) -> str:
    """CommandArguments of `sh`, in whose folder the script runs."""
    file = agent.folder / f"{os.urandom(4).hex()}.sh"
    file.write_text(f"cd {agent.folder}\n{text}\n")
    return str(file)


async def stands(application: Application, name: str, phase: str, **fields: Any) -> Entity:
    """How it stands, once that is so."""

    async def found() -> Entity:
        told = (await application.reader.get(f"{PATH}/{name}/status")).json()
        wanted = {"Status": phase, **fields}
        return next((each for each in told if wanted.items() <= each.items()), {})

    return await until(found, 60)


async def logged(application: Application, name: str, text: str) -> list[Entity]:
    query: dict[str, str] = {"IntegrationType": "webjob", "IntegrationName": f"webjob-{name}", "Count": "1000"}

    async def lines() -> list[Entity]:
        found = (await application.reader.get("/integrations/logs", params=query)).json()
        return [line for line in found if text in line["Message"]]

    return await until(lines)


def pids(agent: Agent) -> list[int]:
    """The processes that the job was, in their order."""
    file = agent.folder / "pids"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def alive(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


async def another(agent: Agent, before: list[int]) -> list[int]:
    async def more() -> list[int]:
        return pids(agent) if len(pids(agent)) > len(before) else []

    return await until(more)


KEEPS_RUNNING = "echo $$ >> pids; echo hello; echo problem >&2; exec sleep 1000"


async def test_it_is_kept_running_until_it_is_stopped(application: Application, agent: Agent, name: str) -> None:
    async with agent.running():
        await make(application, name, agent.needs, Command="sh", CommandArguments=script(agent, KEEPS_RUNNING))
        await stands(application, name, "Stopped", Starts=0)
        await application.operator.post(f"{PATH}/start/{name}")
        await stands(application, name, "Running", Starts=1)
        [line] = await logged(application, name, "hello")
        assert (line["Context"], line["LogLevel"], line["Environment"]) == ({"Logger": "stdout"}, "INFO", name)
        [line] = await logged(application, name, "problem")
        assert line["Context"] == {"Logger": "stderr"}
        [first] = pids(agent)
        os.kill(first, 9)
        [_, second] = await another(agent, [first])
        await logged(application, name, "ended by signal 9; starts again in 1 s")
        await stands(application, name, "Running", Starts=2, ExitCode=-9)
        await application.operator.post(f"{PATH}/stop/{name}")
        await stands(application, name, "Stopped")
        assert not alive(second)
        await application.operator.post(f"{PATH}/start/{name}")
        [*_, third] = await another(agent, [first, second])
        await application.operator.delete(f"{PATH}/{name}")
        await until(lambda: gone(third))


async def gone(pid: int) -> bool:
    return not alive(pid)


async def test_a_changed_one_is_started_anew_and_never_runs_twice(
    application: Application, agent: Agent, name: str
) -> None:
    # Whoever finds the lock taken tells so: two processes were there at a time.
    alone = "echo $$ >> pids; mkdir lock || echo TWICE; trap 'rmdir lock; exit' TERM; while :; do sleep 0.05; done"
    async with agent.running():
        fields: dict[str, Any] = {"Command": "sh", "CommandArguments": script(agent, alone), "RequestedStatus": 1}
        made = await make(application, name, agent.needs, **fields)
        before = await another(agent, [])
        for number in range(3):
            wanted = made | {"ETag": None, "EnvironmentVariables": {"N": number}}
            assert (await application.operator.put(PATH, json=wanted)).status_code == 200
            before = await another(agent, before)
        await application.operator.post(f"{PATH}/stop/{name}")
        await stands(application, name, "Stopped")
    assert [pid for pid in before if alive(pid)] == []
    assert not (agent.folder / "lock").exists()


async def test_a_killed_agent_takes_it_along_and_starts_it_once_again(
    application: Application, agent: Agent, name: str
) -> None:
    async with agent.running() as process:
        await make(
            application,
            name,
            agent.needs,
            Command="sh",
            CommandArguments=script(agent, KEEPS_RUNNING),
            RequestedStatus=1,
        )
        await stands(application, name, "Running")
        [first] = pids(agent)
        process.kill()
        await process.wait()
    await until(lambda: gone(first))
    async with agent.running():
        [_, second] = await another(agent, [first])
        await stands(application, name, "Running", Starts=2)
        assert [pid for pid in pids(agent) if alive(pid)] == [second]
    await until(lambda: gone(second))
    assert len(pids(agent)) == 2


async def test_one_that_goes_on_failing_is_an_error_and_is_tried_on(
    application: Application, agent: Agent, name: str
) -> None:
    async with agent.running():
        fails = script(agent, "echo $$ >> pids; echo it is broken >&2; exit 3")
        await make(application, name, agent.needs, Command="sh", CommandArguments=fails, RequestedStatus=1)
        await make(application, f"{name}-no", agent.needs, Command="no-such-program", RequestedStatus=1)
        waiting = await stands(application, name, "Waiting")
        assert (waiting["ExitCode"], waiting["Message"].partition(";")[0]) == (
            3,
            "ended with exit value 3: it is broken",
        )
        error = await stands(application, name, "Error")
        assert error["Starts"] == 5
        missing = await stands(application, f"{name}-no", "Error")
        assert "'no-such-program' does not exist on this agent" in missing["Message"]
        assert missing["ExitCode"] is None


async def test_secrets_reach_its_environment_alone(application: Application, agent: Agent, name: str) -> None:
    await configured(application, "Variable", name, {"value": SECRET, "isSecret": True}, "/variables")
    reference = f"{{{{var:{name}}}}}"
    async with agent.running():
        prints = script(agent, 'echo "it is: $TOKEN"; tr "\\0" " " < /proc/$$/cmdline; exec sleep 1000')
        await make(
            application,
            name,
            agent.needs,
            Command="sh",
            CommandArguments=prints,
            EnvironmentVariables={"TOKEN": reference, "PLAIN": 7},
            RequestedStatus=1,
        )
        await make(
            application, f"{name}-no", agent.needs, Command="echo", CommandArguments=reference, RequestedStatus=1
        )
        await stands(application, name, "Running")
        [line] = await logged(application, name, "it is: ")
        assert line["Message"] == "it is: ******"
        refused = await stands(application, f"{name}-no", "Waiting")
        assert "is a secret" in refused["Message"]
    assert files_that_contain(agent.folder, SECRET) == []


async def test_one_with_a_cron_expression_runs_its_package_when_due(
    application: Application, agent: Agent, name: str
) -> None:
    await configured(application, "Variable", name, {"value": "hi there", "isSecret": True}, "/variables")
    async with agent.running():
        await make(
            application,
            name,
            agent.needs,
            Command=None,
            PackageId="acme-job",
            PackageVersion="1.0.0",
            CommandArguments="--once 'a b'",
            EnvironmentVariables={"GREETING": f"{{{{var:{name}}}}}"},
            CronExpression=EACH_SECOND,
            RequestedStatus=1,
        )
        assert (await stands(application, name, "Scheduled"))["Message"] is None
        [line, *_] = await logged(application, name, "acme")
        assert line["Message"] == "acme ['--once', 'a b'] ****** None"

        async def runs() -> list[Entity]:
            found = (await application.reader.get(f"{PATH}/{name}/runs")).json()
            return [run for run in found if run["ExitCode"] == 0]

        [run, *_] = await until(runs)
        assert run["Output"].startswith("acme")
        ticks = (await application.reader.get(f"{PATH}/{name}/ticks")).json()
        assert "fired" in {tick["Outcome"] for tick in ticks}
        await application.operator.post(f"{PATH}/stop/{name}")
        await stands(application, name, "Stopped")
        assert (await get(application, name))["RequestedStatus"] == 0


async def test_a_package_that_cannot_be_installed_is_told(application: Application, agent: Agent, name: str) -> None:
    async with agent.running():
        await make(application, name, agent.needs, PackageId="no-such-package", RequestedStatus=1)
        waiting = await stands(application, name, "Waiting")
        assert "no-such-package" in waiting["Message"]
