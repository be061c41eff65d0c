"""`penstock flow` against the real application."""

import asyncio
from pathlib import Path

import pytest

from penstock.protocol.report import IntegrationFlowStatusEnum
from tests.application import Application
from tests.areas.agent_link import linked_agent
from tests.areas.waiting import until
from tests.program import Terminal

pytest_plugins = ("tests.terminals",)

SPEC = "- from: {uri: 'timer:tick', parameters: {period: 60000}, steps: [{log: hello}]}\n"


@pytest.fixture
def file(tmp_path: Path, name: str) -> Path:
    file = tmp_path / f"{name}.camel.yaml"
    file.write_text(SPEC)
    return file


async def test_run_saves_with_all_that_is_given_and_waits_for_the_agents(
    application: Application, admin: Terminal, file: Path, name: str
) -> None:
    data = file.with_name("data.txt")
    data.write_text("12")
    async with linked_agent(application, name, {"Environment": name}) as link:
        command = (
            "flow",
            "run",
            str(file),
            "--require",
            f"Environment={name}",
            "--var",
            "Who=a=b",
            "--file",
            str(data),
        )

        async def answer() -> bool:
            """The agent tells that it runs the version, once there is one."""
            if name not in await link.digest():
                return False
            await link.ping()
            await link.report_state(name, IntegrationFlowStatusEnum.RUNNING, engine="penstock 1.2.3")
            return True

        running = asyncio.create_task(admin.run(*command))
        await until(answer)
        ended = await running
        assert ended.code == 0, ended.err
        assert ended.out == f"{name}: Running, version 1, penstock 1.2.3\n"
    found = (await application.reader.get(f"/integrations/flows/{name}")).json()
    assert found["Properties"] == {"Who": "a=b"}
    assert found["Files"] == [{"FileName": "data.txt", "FileContent": "12"}]
    assert found["RequestedStatus"] == 1


async def test_mistakes_are_told_with_file_and_line(admin: Terminal, file: Path) -> None:
    file.write_text(SPEC.replace("log: hello", "lok: hello"))
    ended = await admin.run("flow", "save", str(file))
    assert ended.code == 1
    assert "nothing was saved" in ended.err
    assert f"{file}: line 1, column " in ended.err
    assert "did you mean 'log'?" in ended.err
    wrong = await admin.run("flow", "save", str(file), "--var", "Who")
    assert (wrong.code, "takes NAME=VALUE" in wrong.err) == (2, True)


async def test_a_flow_is_saved_stopped_restored_and_removed(
    application: Application, admin: Terminal, file: Path, name: str
) -> None:
    elsewhere = ("--require", f"Environment={name}")
    assert (await admin.run("flow", "save", str(file), *elsewhere)).code == 0
    file.write_text(SPEC.replace("hello", "good morning"))
    assert (await admin.run("flow", "save", str(file), *elsewhere)).code == 0
    started = await admin.run("flow", "start", name)
    assert (started.code, "No agent matches" in started.err) == (1, True)
    assert (await admin.run("flow", "stop", name)).code == 0
    assert (await admin.run("flow", "restore", name, "1")).code == 0
    versions = await admin.run("get", "versions", name)
    assert [line.split()[0] for line in versions.out.splitlines()] == ["VERSION", "3", "2", "1"]
    found = (await application.reader.get(f"/integrations/flows/{name}/versions/3")).json()
    assert "hello" in found["FlowSpec"]
    assert (await admin.run("flow", "remove", name)).code == 0
    gone = await admin.run("flow", "status", name)
    assert (gone.code, "does not exist" in gone.err) == (1, True)


async def test_status_fails_and_says_why_while_an_agent_has_an_error(
    application: Application, admin: Terminal, file: Path, name: str
) -> None:
    assert (await admin.run("flow", "save", str(file), "--require", f"Environment={name}")).code == 0
    async with linked_agent(application, name, {"Environment": name}) as link:

        async def told() -> bool:
            await link.ping()
            await link.report_state(name, IntegrationFlowStatusEnum.ERROR, message="the port is taken")
            found = (await application.reader.get(f"/integrations/flows/{name}/agents")).json()
            return [each["Status"] for each in found] == [1]

        await until(told)
        ended = await admin.run("flow", "status", name)
        assert ended.code == 1
        assert "the port is taken" in ended.out
