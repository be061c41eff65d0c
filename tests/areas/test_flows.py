"""Flows over HTTP: what is requested of them, how they are shown."""

import asyncio

from penstock.protocol.report import IntegrationFlowStatusEnum
from tests.application import Application
from tests.areas.agent_link import AgentLink
from tests.areas.scheduled import apply, flow, request, schedule


async def test_start_and_stop_set_what_is_requested_and_repeat_harmlessly(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    assert [await request(application, "stop", name) for _ in range(2)] == [202, 202]
    assert (await flow(application, name))["RequestedStatus"] == 0
    stopped = await link.digest()
    assert [await request(application, "start", name.upper()) for _ in range(2)] == [202, 202]
    assert (await flow(application, name))["RequestedStatus"] == 1
    assert stopped[f"schedule-{name}"] != (await link.digest())[f"schedule-{name}"]


async def test_starts_and_stops_at_the_same_time_are_all_answered(application: Application, name: str) -> None:
    await apply(application, schedule(name))
    answers = await asyncio.gather(*(request(application, what, name) for what in ("stop", "start") * 5))
    assert answers == [202] * 10


async def test_a_stopped_flow_stays_stopped_when_it_is_changed(application: Application, name: str) -> None:
    await apply(application, schedule(name))
    await request(application, "stop", name)
    await apply(application, schedule(name, args=["2"]))
    found = await flow(application, name)
    assert (found["RequestedStatus"], found["Version"], found["Status"]) == (0, "2", "Stopped")


async def test_a_deleted_flow_is_gone_until_its_schedule_is_applied_again(
    application: Application, link: AgentLink, name: str
) -> None:
    document = schedule(name, requirements={"Environment": name})
    await apply(application, document)
    await link.report_state(f"schedule-{name}", IntegrationFlowStatusEnum.RUNNING)
    deleted = await application.operator.delete(f"/integrations/flows/schedule-{name}")
    assert (deleted.status_code, deleted.content) == (202, b"")
    assert f"schedule-{name}" not in await link.digest()
    assert (await application.operator.delete(f"/integrations/flows/schedule-{name}")).status_code == 404
    await apply(application, document)
    assert f"schedule-{name}" in await link.digest()


async def test_an_unknown_flow_is_not_found(application: Application, name: str) -> None:
    for path in ("", "/status", "/logs?count=1"):
        answer = await application.reader.get(f"/integrations/flows/schedule-{name}{path}")
        assert answer.status_code == 404
    assert await request(application, "start", name) == 404
    assert await request(application, "stop", name) == 404
    assert (await application.operator.post("/integrations/flows/start")).status_code == 400


async def test_a_flow_is_shown_with_all_that_belongs_to_it(application: Application, name: str) -> None:
    await apply(application, schedule(name, requirements={"Environment": "prod", "Region": "eu"}))
    answer = await application.reader.get(f"/integrations/flows/SCHEDULE-{name}")
    found = answer.json()
    assert (found["Name"], found["Version"], found["Category"]) == (f"schedule-{name}", "1", "Schedule")
    assert [(r["Identifier"], r["Value"]) for r in found["Requirements"]] == [("Environment", "prod"), ("Region", "eu")]
