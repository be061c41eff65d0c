"""What flows log: taken from agents, found by every filter."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.application import Application
from tests.areas.agent_link import AgentLink, linked_agent
from tests.areas.log_lines import has_logged, line, logged
from tests.areas.scheduled import apply, schedule
from tests.areas.waiting import until


async def test_log_lines_are_found_by_every_filter(application: Application, link: AgentLink, name: str) -> None:
    await apply(application, schedule(name, requirements={"Environment": name}))
    flow_name = f"schedule-{name}"
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    failed = line(
        name,
        "three",
        at=begin + timedelta(minutes=3),
        level="ERROR",
        exchange_id=f"x-{name}",
        exception_type="IOError",
        exception_message="disk full",
        stack_trace="at line 3",
        context={"Key": "kept as it is"},
    )
    others = [line(name, word, at=begin + timedelta(minutes=at)) for at, word in ((1, "one"), (2, "two"))]
    await link.report_lines(*others, failed)
    await until(lambda: has_logged(application, 3, IntegrationName=flow_name))

    async def found(**query: Any) -> list[str]:
        return await logged(application, IntegrationName=flow_name.upper(), **query)

    assert await found() == ["three", "two", "one"]
    assert await found(LogLevel="error") == ["three"]
    assert await found(LogLevel="WARN") == []
    assert await found(FromDate="2026-01-01T00:02:00Z") == ["three", "two"]
    assert await found(ToDate="2026-01-01T00:02:00Z") == ["one"]
    assert await found(Count=2) == ["three", "two"]
    assert await found(Count=2, Skip=2) == ["one"]
    assert await found(IntegrationType="Schedule", AgentId=str(link.id), Environment=name) == ["three", "two", "one"]
    assert await found(IntegrationType="flow") == []
    assert await found(AgentId=str(uuid4())) == []
    assert await found(AgentId="a\0b") == []
    assert await logged(application, ExchangeId=f"x-{name}") == ["three"]
    [item] = (await application.reader.get("/integrations/logs", params={"ExchangeId": f"x-{name}"})).json()
    assert (item["Agent"], item["Environment"], item["Stacktrace"]) == (f"agent-{name}", name, "at line 3")
    assert item["Context"] == {"Key": "kept as it is"}
    [latest] = (await application.reader.get(f"/integrations/flows/{flow_name}/logs", params={"count": 1})).json()
    assert (latest["Id"], latest["ExceptionMessage"], latest["LogLevel"]) == (str(failed.id), "disk full", "ERROR")


async def test_a_page_of_logs_links_to_the_next(application: Application, link: AgentLink, name: str) -> None:
    await link.report_lines(*(line(name, str(number)) for number in range(3)))
    query = {"IntegrationName": f"schedule-{name}", "Count": 2}
    await until(lambda: has_logged(application, 2, **query))

    async def following() -> str:
        answer = await application.reader.get("/integrations/logs", params=query)
        return str(answer.links.get("next", {}).get("url", ""))

    assert "Skip=2" in await until(following)


async def test_log_reports_that_come_again_are_kept_once_and_agents_cannot_suppress_each_other(
    application: Application, link: AgentLink, name: str
) -> None:
    same = line(name, "told")
    async with linked_agent(application, f"second-{name}") as second:
        for agent in (link, link, second):
            await agent.report_lines(same)
        await until(lambda: has_logged(application, 2, IntegrationName=f"schedule-{name}"))
        await link.report_lines(line(name, "last"))
        await until(lambda: has_logged(application, 3, IntegrationName=f"schedule-{name}"))
    agents = [
        item["Agent"]
        for item in (
            await application.reader.get(
                "/integrations/logs", params={"IntegrationName": f"schedule-{name}", "ToDate": "2100-01-01"}
            )
        ).json()
    ]
    assert sorted(agents) == [f"agent-{name}", f"agent-{name}", f"second-{name}"]


@pytest.mark.parametrize(
    "query", ["Count=-1", "Count=1001", "Skip=-1", "FromDate=yesterday", "Level=INFO", "Count=1&Count=2"]
)
async def test_bad_log_queries_are_refused(application: Application, query: str) -> None:
    assert (await application.reader.get(f"/integrations/logs?{query}")).status_code == 400
