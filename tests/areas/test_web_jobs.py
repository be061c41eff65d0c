"""Web jobs over HTTP: made, changed, started and stopped, given to the agents that they are for."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from penstock.areas.agents.roster import Roster
from penstock.areas.schedules.closed import ClosedLedgers
from penstock.areas.schedules.closing import LedgerClosing
from penstock.areas.schedules.ledger import Ledger
from penstock.areas.schedules.policy import SchedulePolicy
from penstock.areas.webjobs.service import WebJobService
from penstock.kernel.clock import SystemClock
from penstock.kernel.validation import decode_json
from penstock.protocol import subjects
from penstock.protocol.assignment import AssignmentAnswer, AssignmentItem, AssignmentQuery
from penstock.protocol.web_job import WebJobItem
from penstock.protocol.work import VariableAnswer, VariableQuery
from penstock.store.store import Store
from tests.application import Application
from tests.areas.agent_link import AgentLink
from tests.areas.events import errors_of
from tests.areas.resource_suite import Audited, Changeable, Entity, configured, new_name
from tests.areas.waiting import until

PATH = "/automation/webjob"
NOWHERE = [{"Identifier": "Nowhere", "Value": "x"}]
HOURLY = "0 0 * * * ?"


def job(name: str, needs: Any = NOWHERE, **fields: Any) -> Entity:
    return {"Name": name, "Command": "sleep", "CommandArguments": "60", "Requirements": needs, **fields}


async def make(application: Application, name: str, needs: Any = NOWHERE, **fields: Any) -> Entity:
    answer = await application.operator.post(PATH, json=job(name, needs, **fields))
    assert answer.status_code == 200, answer.text
    found: Entity = answer.json()
    return found


async def get(application: Application, name: str) -> Entity:
    answer = await application.reader.get(f"{PATH}/{name}")
    assert answer.status_code == 200, answer.text
    found: Entity = answer.json()
    return found


async def flow_of(application: Application, name: str) -> Entity | None:
    answer = await application.reader.get(f"/integrations/flows/webjob-{name}")
    return answer.json() if answer.status_code == 200 else None


async def assigned(link: AgentLink, **stamps: str) -> list[AssignmentItem]:
    answer = await link.ask(subjects.WEB_JOBS, AssignmentQuery(stamps=stamps), AssignmentAnswer)
    return answer.items


class TestWebJobs(Changeable, Audited):
    path = PATH

    async def make(self, application: Application, name: str) -> Entity:
        return await make(application, name)

    def altered(self, entity: Entity) -> Entity:
        return entity | {"CommandArguments": "120"}

    def address(self, key: Any) -> str:
        return f"{PATH}/{self._names.get(key, key)}"

    _names: dict[str, str] = {}

    async def find(self, application: Application, key: Any) -> Entity | None:
        found = await super().find(application, key)
        if found is not None:
            self._names[key] = found["Name"]
        return found

    async def remove(self, application: Application, entity: Entity) -> Any:
        return await application.admin.delete(f"{PATH}/{entity['Name']}")

    async def test_one_reads_as_it_is_listed(self, application: Application) -> None:
        made = await self.make(application, new_name())
        assert await get(application, made["Name"].upper()) == made


async def test_a_new_one_is_enabled_and_stopped_until_it_is_started(application: Application, name: str) -> None:
    made = await make(application, name)
    assert (made["IsEnabled"], made["RequestedStatus"]) == (True, 0)
    for act, status in (("start", 1), ("start", 1), ("stop", 0), ("stop", 0)):
        answer = await application.operator.post(f"{PATH}/{act}/{name}")
        assert (answer.status_code, answer.content) == (200, b"")
        assert (await get(application, name))["RequestedStatus"] == status
    assert (await application.operator.post(f"{PATH}/start/{name}x")).status_code == 404
    assert (await application.reader.post(f"{PATH}/start/{name}")).status_code == 403


async def test_a_name_is_taken_once_and_stays(application: Application, name: str) -> None:
    made = await make(application, name)
    assert (await application.operator.post(PATH, json=job(name.upper()))).status_code == 409
    answer = await application.operator.put(PATH, json=made | {"Name": f"{name}-other"})
    assert errors_of(answer).keys() == {"Name"}
    changed = await application.operator.put(PATH, json=job(name, CommandArguments="1"))
    assert (changed.json()["Id"], changed.json()["CommandArguments"]) == (made["Id"], "1")


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"Name": "no name", "Command": " "}, {"Name", "Command"}),
        ({"Name": "x" * 122}, {"Name"}),
        ({"Command": None}, {"Command"}),
        ({"CommandArguments": "'open"}, {"CommandArguments"}),
        ({"Command": "a\0b"}, {"Command"}),
        ({"PackageVersion": "1.0"}, {"PackageVersion"}),
        ({"PackageId": "--index-url=x"}, {"PackageId"}),
        ({"PackageId": "x", "PackageVersion": "1; rm"}, {"PackageVersion"}),
        ({"CronExpression": "every day"}, {"CronExpression"}),
        ({"CronExpression": HOURLY, "TimeToLive": 60}, {"TimeToLive"}),
        ({"Requirements": [{"Value": "x"}]}, {"Requirements[0].Identifier"}),
        ({"EnvironmentVariables": {"1A": "x", "B": ["x"]}}, {"EnvironmentVariables.1A", "EnvironmentVariables.B"}),
        ({"EnvironmentVariables": {"PENSTOCK_AGENT_RUN": "x"}}, {"EnvironmentVariables.PENSTOCK_AGENT_RUN"}),
        ({"RequestedStatus": 7}, {"RequestedStatus"}),
    ],
)
async def test_whatever_is_wrong_is_named_and_nothing_is_made(
    application: Application, name: str, fields: dict[str, Any], wrong: set[str]
) -> None:
    answer = await application.operator.post(PATH, json=job(name, **fields))
    assert (answer.status_code, set(errors_of(answer))) == (400, wrong)
    assert (await application.reader.get(f"{PATH}/{name}")).status_code == 404


async def test_an_agent_gets_those_that_it_is_to_keep_running(
    application: Application, link: AgentLink, name: str
) -> None:
    needs = [{"Identifier": "environment", "Value": name}]
    made = await make(
        application,
        name,
        needs,
        Command=None,
        PackageId="acme-job",
        PackageVersion="1.2",
        CommandArguments='--name "a b" {{var:X}}',
        EnvironmentVariables={"A": "{{var:Y}}", "B": 1, "C": True, "D": None},
        RequestedStatus=1,
    )
    await make(application, f"{name}-other")
    await make(application, f"{name}-due", needs, CronExpression=HOURLY)
    [item] = await assigned(link)
    body = decode_json(bytes(item.body), WebJobItem)
    assert (str(item.key), body.name, body.started) == (made["Id"], name, True)
    assert (body.command, body.package) == ("acme-job", "acme-job==1.2")
    assert body.arguments == ["--name", "a b", "{{var:X}}"]
    assert body.environment == {"A": "{{var:Y}}", "B": "1", "C": "true"}
    assert await assigned(link, **{made["Id"]: item.stamp}) == []
    for variable in ("X", "Y", "Z"):
        await configured(application, "Variable", f"{name}-{variable}", {"value": "v"}, "/variables")
    await application.operator.put(PATH, json=made | {"EnvironmentVariables": {"A": f"{{{{var:{name}-Y}}}}"}})
    query = VariableQuery(names=[f"{name}-{each}" for each in "XYZ"])
    answer = await link.ask(subjects.variables_of(subjects.WEB_JOBS), query, VariableAnswer)
    assert answer.values.keys() == {f"{name}-Y"}
    [changed] = await assigned(link, **{made["Id"]: item.stamp})
    await application.operator.put(PATH, json=made | {"ETag": None, "IsEnabled": False})
    [disabled] = await assigned(link, **{made["Id"]: changed.stamp})
    assert not decode_json(bytes(disabled.body), WebJobItem).started


async def test_one_with_a_cron_expression_makes_a_flow_that_follows_it(application: Application, name: str) -> None:
    await make(application, name, CronExpression=HOURLY, RequestedStatus=1)
    flow = await flow_of(application, name)
    assert flow is not None
    assert (flow["RequestedStatus"], flow["Category"], flow["Version"]) == (1, "WebJob", "1")
    await application.operator.post(f"{PATH}/stop/{name}")
    stopped = await flow_of(application, name)
    assert stopped is not None
    assert (stopped["RequestedStatus"], stopped["Version"]) == (0, "1")
    await application.operator.put(PATH, json=job(name, CronExpression=HOURLY, RequestedStatus=1, IsEnabled=False))
    disabled = await flow_of(application, name)
    assert disabled is not None
    assert disabled["RequestedStatus"] == 0
    await application.operator.put(PATH, json=job(name))
    assert await flow_of(application, name) is None
    await application.operator.put(PATH, json=job(name, CronExpression=HOURLY))
    assert await flow_of(application, name) is not None
    await application.operator.delete(f"{PATH}/{name}")
    assert await flow_of(application, name) is None


async def test_due_times_that_no_agent_sees_to_are_accounted_for(application: Application, name: str) -> None:
    await make(application, name, CronExpression="* * * * * ?", RequestedStatus=1)

    async def ticks() -> list[Entity]:
        answer = await application.reader.get(f"{PATH}/{name}/ticks")
        assert answer.status_code == 200, answer.text
        found: list[Entity] = answer.json()
        return found

    found = await until(ticks)
    assert {(tick["Outcome"], tick["AgentId"]) for tick in found} == {("skipped", None)}
    assert (await application.reader.get(f"{PATH}/{name}/runs")).json() == []
    assert (await application.reader.get(f"{PATH}/{name}x/ticks")).status_code == 404
    await application.operator.put(PATH, json=job(name))
    assert (await application.reader.get(f"{PATH}/{name}/ticks")).status_code == 404


async def test_what_a_deprecated_agent_left_open_was_missed(
    application: Application, link: AgentLink, name: str
) -> None:
    get_part = application.platform.container.get
    policy = SchedulePolicy(close_after=timedelta())
    closing = LedgerClosing(
        get_part(Store),  # type: ignore[type-abstract]
        SystemClock(),
        get_part(Roster),
        get_part(Ledger),
        get_part(ClosedLedgers),
        policy,
        get_part(WebJobService),
    )
    needs = [{"Identifier": "Environment", "Value": name}]
    await make(application, name, needs, CronExpression="* * * * * ?", RequestedStatus=1)
    await asyncio.sleep(1.5)
    await application.admin.post(f"/agents/{link.id}/deprecate")
    await closing.close_all()
    found = (await application.reader.get(f"{PATH}/{name}/ticks")).json()
    missed = [tick for tick in found if tick["AgentId"] == str(link.id)]
    assert {(tick["Outcome"], tick["Reason"], tick["Flow"]) for tick in missed} == {
        ("missed", "agent away", f"webjob-{name}")
    }


async def test_a_schedule_cannot_have_the_name_of_a_web_jobs_ledger(application: Application, name: str) -> None:
    document = {
        "apiVersion": "penstock/v1alpha1",
        "kind": "Schedule",
        "metadata": {"name": f"webjob-{name}"},
        "spec": {"cron": HOURLY, "command": "true"},
    }
    assert errors_of(await application.apply(document)).keys() == {"documents[0].metadata.name"}


async def test_the_status_lists_the_agents_that_it_is_for(application: Application, link: AgentLink, name: str) -> None:
    needs = [{"Identifier": "Environment", "Value": name}]
    await make(application, name, needs)
    [status] = (await application.reader.get(f"{PATH}/{name}/status")).json()
    assert (status["AgentId"], status["Status"], status["Starts"]) == (str(link.id), "Unknown", 0)
    assert (await application.reader.get(f"{PATH}/{name}x/status")).status_code == 404


async def test_a_document_makes_the_same_as_the_operation(application: Application, name: str) -> None:
    spec = {
        "command": "sleep",
        "commandArguments": "60",
        "environmentVariables": {"A": "b", "N": 1},
        "requirements": {"Nowhere": "x"},
    }
    made = await configured(application, "WebJob", name, spec, PATH)
    assert (made["RequestedStatus"], made["EnvironmentVariables"]) == (1, {"A": "b", "N": 1})
    await application.operator.post(f"{PATH}/stop/{name}")
    kept = await configured(application, "WebJob", name, spec, PATH)
    assert kept["RequestedStatus"] == 0
    started = await configured(application, "WebJob", name, spec | {"started": True}, PATH)
    assert started["RequestedStatus"] == 1
    document = {"apiVersion": "penstock/v1alpha1", "kind": "WebJob", "metadata": {"name": name}}
    refused = await application.apply(document | {"spec": spec | {"cronExpression": "?", "commandArguments": '"'}})
    assert set(errors_of(refused)) == {"documents[0].spec.cronExpression", "documents[0].spec.commandArguments"}
    removed = await application.apply(document | {"metadata": {"name": name, "state": "absent"}})
    assert removed.status_code == 202
    assert (await application.reader.get(f"{PATH}/{name}")).status_code == 404
