"""What agents are to have: their flows, told in time, and nobody else's."""

from datetime import UTC, datetime, timedelta

import pytest

from penstock.areas.flows.catalog import FlowCatalog
from penstock.areas.flows.content import FlowContents
from penstock.areas.flows.coverage import Coverage
from penstock.areas.flows.desired import DesiredState
from penstock.areas.flows.policy import FlowPolicy
from penstock.areas.variables.service import VariableService
from penstock.kernel.errors import Forbidden, Invalid, PenstockError, Unavailable
from penstock.kernel.wire import encode
from penstock.protocol import subjects
from penstock.protocol.work import Digest, DigestQuery, IntegrationStatusEnum2, WorkQuery
from penstock.resource.matching import Matching
from tests.application import Application
from tests.areas.agent_link import AgentLink, linked_agent
from tests.areas.scheduled import apply, removal, request, schedule
from tests.areas.waiting import until


def reference(variable: str) -> str:
    return "{{var:" + variable + "}}"


async def test_an_agent_gets_the_flows_that_it_matches_and_no_others(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(
        application,
        schedule(name, command="date", args=["+%s"], requirements={"environment": name}),
        schedule(f"{name}.both", requirements={"Environment": name, "REGION": "eu"}),
        schedule(f"{name}.case", requirements={"Environment": name.upper()}),
        schedule(f"{name}.more", requirements={"Environment": name, "Team": "billing"}),
    )
    digest = {flow: stamp for flow, stamp in (await link.digest()).items() if name in flow}
    assert set(digest) == {f"schedule-{name}", f"schedule-{name}.both"}
    work = await link.work(*digest, f"schedule-{name}.more", "schedule-unknown")
    assert {flow: item.stamp for flow, item in work.items()} == digest
    item = work[f"schedule-{name}"]
    assert (item.version, item.schedule, item.requested) == ("1", name, IntegrationStatusEnum2.STARTED)
    assert "+%s" in item.spec


async def test_a_flow_without_requirements_is_every_agents(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name))
    assert f"schedule-{name}" in await link.digest()
    await apply(application, removal(name))


def small_answers(application: Application) -> DesiredState:
    """What answers agents, with room for little."""
    get = application.platform.container.get
    policy = FlowPolicy(digest_entries=3, work_items=4, work_bytes=100_000)
    return DesiredState(get(FlowCatalog), get(Coverage), get(Matching), get(VariableService), get(FlowContents), policy)


async def test_a_digest_comes_in_pages(application: Application, link: AgentLink, name: str) -> None:
    await apply(application, *(schedule(f"{name}-{i:03}", requirements={"Environment": name}) for i in range(7)))
    answers = small_answers(application)
    pages: list[Digest] = []
    after: str | None = None
    while not pages or after is not None:
        pages.append(await answers.digest(link.id, DigestQuery(after=after)))
        after = pages[-1].next
    everything = {entry.name: entry.stamp for page in pages for entry in page.entries}
    assert everything == await link.digest()
    assert {len(page.entries) for page in pages[:-1]} == {3}
    assert [flow for flow in everything if name in flow] == [f"schedule-{name}-{i:03}" for i in range(7)]


async def test_what_does_not_fit_into_an_answer_is_left_for_another(
    application: Application, link: AgentLink, name: str
) -> None:
    names = [f"{name}-{i}" for i in range(10)]
    await apply(
        application, *(schedule(each, args=["x" * 40_000], requirements={"Environment": name}) for each in names)
    )
    left = wanted = [f"schedule-{each}" for each in names]
    got: list[list[str]] = []
    while left:
        answer = await small_answers(application).work(link.id, WorkQuery(names=left))
        got.append([item.name for item in answer.items])
        left = answer.left
    assert [each for some in got for each in some] == wanted
    assert {len(some) for some in got} == {2}
    assert list(await link.work(*wanted)) == wanted


async def test_a_stamp_changes_with_what_runs_and_with_nothing_else(
    application: Application, link: AgentLink, name: str
) -> None:
    requirements = {"Environment": name}

    async def item() -> tuple[str, str, datetime]:
        work = (await link.work(f"schedule-{name}"))[f"schedule-{name}"]
        return work.version, work.stamp, work.since

    await apply(application, schedule(name, requirements=requirements))
    first = await item()
    await apply(application, schedule(name, requirements=requirements))
    await apply(application, schedule(name, requirements=requirements, description="told"))
    assert await item() == first
    await apply(application, schedule(name, args=["1"], requirements=requirements))
    second = await item()
    assert (first[0], second[0]) == ("1", "2")
    assert second[1] != first[1]
    assert second[2] > first[2]
    await request(application, "stop", name)
    third = await item()
    assert third[0] == "2"
    assert third[1] != second[1]
    await apply(application, removal(name))
    await apply(application, schedule(name, args=["1"], requirements=requirements))
    again = await item()
    assert again[0] == "1"
    assert again[1] not in (first[1], second[1], third[1])


async def test_an_agent_is_told_of_what_changes_for_it_and_of_nothing_else(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    await until(lambda: _told(link, f"schedule-{name}"))
    link.told.clear()
    await apply(application, schedule(f"{name}-other", requirements={"Environment": "elsewhere"}))
    await apply(application, schedule(name, requirements={"Environment": "elsewhere"}))
    await until(lambda: _told(link, f"schedule-{name}"))
    assert f"schedule-{name}-other" not in str(link.told)
    assert f"schedule-{name}" not in await link.digest()


async def test_an_agent_that_changes_gets_other_work(application: Application, link: AgentLink, name: str) -> None:
    await apply(application, schedule(name, requirements={"Team": name}))
    assert f"schedule-{name}" not in await link.digest()
    link.told.clear()
    link.capabilities = {"Team": name}
    await link.ping()
    await until(lambda: _told(link))
    changed = datetime.now(UTC)
    assert f"schedule-{name}" in await link.digest()
    item = (await link.work(f"schedule-{name}"))[f"schedule-{name}"]
    assert timedelta() <= changed - item.since < timedelta(seconds=20)
    link.capabilities = {"Team": "other"}
    await link.ping()
    await until(lambda: _lost(link, f"schedule-{name}"))


async def test_a_deprecated_agent_has_no_work(application: Application, link: AgentLink, name: str) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    assert f"schedule-{name}" in await link.work(f"schedule-{name}")
    await application.admin.post(f"/agents/{link.id}/deprecate")
    assert await link.digest() == {}
    assert await link.work(f"schedule-{name}") == {}
    await application.admin.put(f"/agents/{link.id}/status?statusEnum=2")
    assert f"schedule-{name}" in await link.digest()


async def test_an_agent_can_neither_ask_for_another_nor_read_its_answers(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    async with linked_agent(application, f"spy-{name}") as spy:
        query = encode(WorkQuery(names=[f"schedule-{name}"]))
        with pytest.raises(Forbidden):
            await spy.bus.request(subjects.ask(link.id, subjects.WORK), query)
        for subject in (subjects.changed(link.id), f"{subjects.inbox(link.id)}.>", subjects.report("*", "flows")):
            with pytest.raises(Forbidden):
                await spy.bus.subscribe(subject, _ignore)
        with pytest.raises(Forbidden):
            await spy.bus.publish(subjects.report(link.id, subjects.FLOWS), b"{}")
        assert await spy.work(f"schedule-{name}") == {}


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b'{"Names":"x"}', b'{"Names":[1]}', b'{"Other":[]}'])
async def test_a_question_that_cannot_be_read_is_refused(link: AgentLink, body: bytes) -> None:
    with pytest.raises((Invalid, PenstockError)) as refused:
        await link.bus.request(subjects.ask(link.id, subjects.WORK), body)
    assert not isinstance(refused.value, Unavailable)


async def test_an_agent_gets_the_variables_that_its_flows_refer_to(
    application: Application, link: AgentLink, name: str
) -> None:
    used, unused, foreign = f"{name}.used", f"{name}.unused", f"{name}.foreign"
    await apply(
        application,
        *(
            {
                "apiVersion": "penstock/v1alpha1",
                "kind": "Variable",
                "metadata": {"name": variable},
                "spec": {"value": f"value of {variable}", "isSecret": True},
            }
            for variable in (used, unused, foreign)
        ),
        schedule(name, args=[reference(used), reference(f"{name}.missing")], requirements={"Environment": name}),
        schedule(f"{name}-2", args=[reference(foreign)], requirements={"Environment": "elsewhere"}),
    )
    answer = await link.variables(used.upper(), unused, foreign, f"{name}.missing")
    assert {key: (found.value, found.is_secret) for key, found in answer.values.items()} == {
        used.upper(): (f"value of {used}", True)
    }


async def _ignore(_: object) -> None:
    return None


async def _told(link: AgentLink, flow: str | None = None) -> bool:
    return any(flow in names if flow else not names for names in link.told)


async def _lost(link: AgentLink, flow: str) -> bool:
    return flow not in await link.digest()
