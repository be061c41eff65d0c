"""Flows while the bus dies, servers restart, and two of them work at once."""

from pathlib import Path

from penstock.areas.flows.coverage import Coverage
from tests.application import Application, running_application
from tests.areas.agent_link import linked_agent, reconnected_agent, register
from tests.areas.coverage_events import coverage_events
from tests.areas.faults import kill_bus
from tests.areas.log_lines import has_logged, line
from tests.areas.scheduled import apply, schedule
from tests.areas.waiting import until


async def test_reports_are_taken_after_the_bus_was_killed(tmp_path: Path, name: str) -> None:
    async with (
        running_application(tmp_path) as application,
        linked_agent(application, f"agent-{name}", {"Environment": name}) as link,
    ):
        await apply(application, schedule(name, requirements={"Environment": name}))
        for number in range(20):
            await link.report_lines(line(name, str(number)))
            if number == 10:
                await kill_bus(application)
        await until(lambda: has_logged(application, 20, IntegrationName=f"schedule-{name}", Count=100))
        assert f"schedule-{name}" in await link.digest()


async def test_two_replicas_share_the_work_and_agree(tmp_path: Path, name: str) -> None:
    async with running_application(tmp_path) as first:
        first.reader = first.operator = first.admin  # the second start makes the other users anew
        nats = first.platform.nats
        assert nats is not None
        shared = {"PENSTOCK_NATS_URL": nats.url, "PENSTOCK_NATS_KEYS": str(tmp_path / "bus-keys.json")}
        async with (
            running_application(tmp_path, **shared) as second,
            linked_agent(first, f"agent-{name}", {"Environment": name}) as link,
        ):
            for number in range(10):
                target = (first, second)[number % 2]
                await apply(target, schedule(f"{name}-{number}", requirements={"Environment": name}))
                assert f"schedule-{name}-{number}" in await link.digest()
            await link.report_lines(*(line(f"{name}-1", str(number)) for number in range(50)))
            query = {"IntegrationName": f"schedule-{name}-1", "Count": 1000}
            await until(lambda: has_logged(first, 50, **query))
            await until(lambda: has_logged(second, 50, **query))
            await first.admin.post(f"/agents/{link.id}/deprecate")
            await until(lambda: _events(first, f"{name}-1", 1))
            for application in (first, second):
                await application.platform.container.get(Coverage).check()
            assert len(await coverage_events(first, f"{name}-1")) == 1


async def test_what_is_desired_is_the_same_after_a_restart(tmp_path: Path, name: str) -> None:
    capabilities = {"Environment": name}
    async with running_application(tmp_path) as application:
        _, credential = await register(application, f"agent-{name}", capabilities)
        await apply(application, schedule(name, requirements=capabilities))
        async with reconnected_agent(application, credential, capabilities) as link:
            before = await link.digest()
    async with (
        running_application(tmp_path) as application,
        reconnected_agent(application, credential, capabilities) as link,
    ):
        assert await link.digest() == before != {}


async def _events(application: Application, name: str, count: int) -> bool:
    return len(await coverage_events(application, name)) == count
