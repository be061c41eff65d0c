"""Event sources that agents run, over HTTP and the bus."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import msgspec
import pytest

from penstock.connectors.source_status import new_status, started
from penstock.kernel.clock import SystemClock
from penstock.kernel.validation import decode_json
from penstock.kernel.wire import encode
from penstock.protocol import subjects
from penstock.protocol.assignment import AssignmentAnswer, AssignmentQuery, AssignmentState
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_source import EventReport, EventSourceStatus, SourceEvent, SourceItem
from penstock.protocol.work import VariableAnswer, VariableQuery
from tests.application import Application
from tests.areas.agent_link import AgentLink, linked_agent
from tests.areas.events import errors_of, in_order, make_channel, routed, subscribe
from tests.areas.files import files_that_contain
from tests.areas.resource_suite import Audited, Changeable, Entity, Readable, Removable, configured, unconfigured
from tests.areas.waiting import until

NOWHERE = [{"Identifier": "Nowhere", "Value": "x"}]
DATABASE = {"url": "postgresql://app:hunter2@db.example.com/shop", "table": "orders", "column": "id"}


def instance(name: str, kind: str = "timer", needs: Any = NOWHERE, **configuration: Any) -> Entity:
    return {
        "Name": name,
        "EventSourceType": kind,
        "JsonConfiguration": msgspec.json.encode(configuration).decode(),
        "Requirements": needs,
    }


async def make(application: Application, *args: Any, **configuration: Any) -> Entity:
    answer = await application.operator.post("/eventing/instances", json=instance(*args, **configuration))
    assert answer.status_code == 200, answer.text
    found: Entity = answer.json()
    return found


class TestInstances(Changeable, Audited):
    path = "/eventing/instances"

    async def make(self, application: Application, name: str) -> Entity:
        return await make(application, name, data={"n": 1})

    def altered(self, entity: Entity) -> Entity:
        return entity | {"Description": "another", "PollingFrequency": "00:01:00"}


class TestSourcesInTheSecondForm(Readable, Removable):
    path = "/eventsources/v2"
    key = "Name"
    unknown = "no-such-source"

    async def make(self, application: Application, name: str) -> Entity:
        spec = {"type": "timer", "parameters": {"data": 1}, "requirements": {"Nowhere": "x"}}
        return await configured(application, "EventSource", name, spec, self.path)

    async def remove(self, application: Application, entity: Entity) -> httpx.Response:
        return await unconfigured(application, "EventSource", entity["Name"])


class TestTrackings(Readable, Removable):
    path = "/databasechangetracking/configurations"
    key = "Name"
    unknown = "no-such-tracking"

    async def make(self, application: Application, name: str) -> Entity:
        spec = {"type": "growing", "parameters": DATABASE, "requirements": {"Nowhere": "x"}}
        return await configured(application, "DatabaseChangeTracking", name, spec, self.path)

    async def remove(self, application: Application, entity: Entity) -> httpx.Response:
        return await unconfigured(application, "DatabaseChangeTracking", entity["Name"])


# Event sources


async def test_an_event_source_is_the_same_in_both_forms(application: Application, name: str) -> None:
    document = {
        "apiVersion": "penstock/v1alpha1",
        "kind": "EventSource",
        "metadata": {"name": name, "description": "ticks"},
        "spec": {
            "type": "timer",
            "parameters": {"data": {"n": 1}},
            "frequency": "00:00:10",
            "variables": {"A": "b"},
            "requirements": {"Nowhere": "x"},
        },
    }
    assert (await application.apply(document)).status_code == 202
    shown = (await application.reader.get(f"/eventsources/v2/{name.upper()}")).json()
    assert (shown["Name"], shown["Description"], shown["Type"]) == (name, "ticks", "timer")
    assert (shown["Parameters"], shown["Variables"], shown["Requirements"]) == (
        {"data": {"n": 1}},
        {"A": "b"},
        {"Nowhere": "x"},
    )
    found = (await application.reader.get("/eventing/instances")).json()
    same = next(each for each in found if each["Name"] == name)
    assert (same["EventSourceType"], same["EventSourceVersion"], same["PollingFrequency"]) == (
        "timer",
        "1.0.0",
        "00:00:10",
    )
    plan = await application.admin.post("/configuration/plan", json=msgspec.json.encode(document).decode())
    assert [change["Action"] for change in plan.json()] == ["keep"]


async def test_an_event_source_has_a_stream_while_it_exists(application: Application, name: str) -> None:
    made = await make(application, name)
    path = f"/eventing/streams/eventsource-{name}/messages"
    assert (await application.reader.get(path)).status_code == 200
    await application.operator.delete(f"/eventing/instances/{made['Id']}")
    assert (await application.reader.get(path)).status_code == 404


async def test_what_is_wrong_with_an_event_source_is_said_by_field(application: Application, name: str) -> None:
    wrong = instance("no blanks", "no-such-kind") | {"CronExpression": "*", "Requirements": [{"Value": "x"}]}
    found = errors_of(await application.operator.post("/eventing/instances", json=wrong))
    assert found.keys() == {"Name", "EventSourceType", "CronExpression", "Requirements[0].Identifier"}
    found = errors_of(
        await application.operator.post("/eventing/instances", json=instance(name, "file-watch", folder="x"))
    )
    assert found.keys() == {"JsonConfiguration.folder"}
    found = errors_of(
        await application.operator.post("/eventing/instances", json=instance(name) | {"EventSourceVersion": "7"})
    )
    assert found.keys() == {"EventSourceVersion"}
    document = {
        "apiVersion": "a/v1alpha1",
        "kind": "EventSource",
        "metadata": {"name": name},
        "spec": {"type": "webhook"},
    }
    found = errors_of(await application.apply(document))
    assert found.keys() == {"documents[0].spec.parameters.port"}


async def test_a_taken_name_is_refused(application: Application, name: str) -> None:
    await make(application, name)
    answer = await application.operator.post("/eventing/instances", json=instance(name.upper()))
    assert (answer.status_code, answer.json()["code"]) == (409, "name-taken")


async def test_the_event_source_of_a_tracking_is_changed_with_it_only(application: Application, name: str) -> None:
    spec = {"type": "version", "parameters": DATABASE | {"key": ["id"]}, "requirements": {"Nowhere": "x"}}
    await configured(application, "DatabaseChangeTracking", name, spec, "/databasechangetracking/configurations")
    found = (await application.reader.get("/eventing/instances")).json()
    made = next(each for each in found if each["Name"] == f"databasechange-{name}")
    assert msgspec.json.decode(made["JsonConfiguration"])["tracking"] == "version"
    answer = await application.operator.delete(f"/eventing/instances/{made['Id']}")
    assert name in errors_of(answer)["Name"]
    document = {
        "apiVersion": "penstock/v1alpha1",
        "kind": "EventSource",
        "metadata": {"name": made["Name"], "state": "absent"},
    }
    assert name in errors_of(await application.apply(document))["documents[0].metadata.name"]


async def test_secrets_are_masked_everywhere_and_kept_by_the_mask(application: Application, name: str) -> None:
    spec = {"type": "growing", "parameters": DATABASE, "requirements": {"Nowhere": "x"}}
    path = "/databasechangetracking/configurations"
    made = await configured(application, "DatabaseChangeTracking", name, spec, path)
    assert made["Parameters"]["url"] == "******"
    again = await configured(
        application,
        "DatabaseChangeTracking",
        name,
        spec | {"parameters": made["Parameters"], "cron": "0 0 0 1 1 ?"},
        path,
    )
    assert again["Parameters"] == made["Parameters"]
    elsewhere = made["Parameters"] | {"table": "salaries"}
    document = {
        "apiVersion": "penstock/v1alpha1",
        "kind": "DatabaseChangeTracking",
        "metadata": {"name": name},
        "spec": spec | {"parameters": elsewhere},
    }
    assert errors_of(await application.apply(document)).keys() == {"documents[0].spec.parameters.url"}
    assert files_that_contain(application.platform.settings.folder, "hunter2") == []


async def test_an_event_source_that_no_agent_runs_is_told(application: Application, name: str) -> None:
    made = await make(application, name)
    query = {"entityId": made["Id"], "fromDate": "2020-01-01", "toDate": "2100-01-01"}

    async def told() -> list[str]:
        events = (await application.admin.get("/events/store", params=query)).json()
        return [each["Content"] for each in events if each["EventType"].endswith(".unmatched")]

    [content] = await until(told)
    assert "no agent matches: needs Nowhere=x" in content
    assert (await application.reader.get(f"/eventing/instances/{made['Id']}/status")).json() == []


# Agents


@pytest.fixture
def needs(name: str) -> list[dict[str, str]]:
    """What the linked agent has."""
    return [{"Identifier": "environment", "Value": name}]


async def agent_client(application: Application, link: AgentLink) -> httpx.AsyncClient:
    return application.client(Authorization=f"Bearer {link.credential}")


async def report(link: AgentLink, *events: tuple[str, CloudEvent], states: Any = ()) -> None:
    found = [SourceEvent(source_id=UUID(id), event=msgspec.Raw(each.to_json())) for id, each in events]
    stood = [
        AssignmentState(key=UUID(id), at=status.last_status_update, status=msgspec.Raw(encode(status)))
        for id, status in states
    ]
    body = EventReport(events=found, states=stood)
    await link.bus.publish(subjects.report(link.id, subjects.EVENTS), encode(body))


def found_event(name: str, **attributes: Any) -> CloudEvent:
    fields = {"id": uuid4().hex, "source": f"/eventsources/{name}", "type": "tests.found", **attributes}
    return CloudEvent(**fields)


async def test_an_agent_gets_the_event_sources_that_it_meets_with_their_secrets(
    application: Application, link: AgentLink, name: str, needs: Any
) -> None:
    mine = await make(application, name, "database-change", needs, **DATABASE)
    other = await make(application, f"{name}-other")
    answer = await link.ask(subjects.SOURCES, AssignmentQuery(), AssignmentAnswer)
    [assigned] = answer.items
    assert (str(assigned.key), assigned.has_secrets) == (mine["Id"], True)
    item = decode_json(bytes(assigned.body), SourceItem)
    assert (item.name, item.shared) == (name, True)
    assert msgspec.json.decode(item.configuration) == DATABASE
    async with await agent_client(application, link) as client:
        listed = await client.get("/agent/eventing/eventSourceInstances", params={"agentId": str(link.id)})
        [shown] = listed.json()
        assert msgspec.json.decode(shown["Configuration"]) == DATABASE
        assert (shown["EventSourceInstanceId"], shown["EventSourceId"]) == (mine["Id"], "source:database-change@1.0.0")
        one = await client.get(f"/agent/{link.id}/eventing/{mine['Id']}")
        assert one.json() == shown
        assert (await client.get(f"/agent/{link.id}/eventing/{other['Id']}")).status_code == 404
        assert (await client.get(f"/agent/{uuid4()}/eventing/{mine['Id']}")).status_code == 403
        catalog = (await client.get("/agent/eventing/catalog")).json()
        assert "penstock" in {each["CatalogName"] for each in catalog}
    answered = await application.reader.get("/agent/eventing/eventSourceInstances", params={"agentId": str(link.id)})
    assert answered.status_code == 403


async def test_an_agent_gets_variables_that_its_event_sources_refer_to_and_no_others(
    application: Application, link: AgentLink, name: str, needs: Any
) -> None:
    for variable in (f"{name}-mine", f"{name}-other"):
        await configured(application, "Variable", variable, {"value": "v", "isSecret": True}, "/variables")
    url = f"postgresql://app:{{{{var:{name}-mine}}}}@db.example.com/shop"
    await make(application, name, "database-change", needs, **DATABASE | {"url": url})
    query = VariableQuery(names=[f"{name}-mine", f"{name}-other"])
    answer = await link.ask(subjects.variables_of(subjects.SOURCES), query, VariableAnswer)
    assert answer.values.keys() == {f"{name}-mine"}


async def test_a_reported_event_is_published_once_however_often_it_is_reported(
    application: Application, link: AgentLink, name: str, needs: Any
) -> None:
    channel = await make_channel(application)
    await subscribe(application, channel, Source=f"/eventsources/{name}")
    made = await make(application, name, "timer", needs)
    first, second = found_event(name, data={"n": 1}), found_event(name, data={"n": 2})
    await report(link, (made["Id"], first))
    await routed(application, channel, 1)
    await report(link, (made["Id"], first), (made["Id"], second))
    events = await routed(application, channel, 2)
    assert [each["data"] for each in events] == [{"n": 1}, {"n": 2}]

    async def copied() -> list[Any]:
        path = f"/eventing/streams/eventsource-{name}/messages"
        found = (await application.reader.get(path)).json()
        return found if len(found) == 2 else []

    assert await until(copied)


async def test_an_agent_cannot_report_for_an_event_source_of_others(
    application: Application, link: AgentLink, name: str, needs: Any
) -> None:
    channel = await make_channel(application)
    await subscribe(application, channel, Source=f"/eventsources/{name}")
    mine = await make(application, f"{name}-mine", "timer", needs)
    other = await make(application, f"{name}-other")
    await report(link, (other["Id"], found_event(name, data="forged")), (str(uuid4()), found_event(name, data="none")))
    await report(link, (mine["Id"], found_event(name, data="mine")))
    assert [each["data"] for each in await routed(application, channel, 1)] == ["mine"]


async def test_an_event_that_its_definition_does_not_allow_holds_up_no_other(
    application: Application, link: AgentLink, name: str, needs: Any
) -> None:
    channel = await make_channel(application)
    await subscribe(application, channel, Source=f"/eventsources/{name}")
    definition = {"Type": "tests.found", "Source": f"/eventsources/{name}", "DataSchema": '{"type": "integer"}'}
    answer = await application.operator.post("/api/EventHub/EventDefinitions", json=definition)
    assert answer.status_code == 200, answer.text
    made = await make(application, name, "timer", needs)
    events = [found_event(name, data=data) for data in (1, "two", 3)]
    await report(link, *((made["Id"], each) for each in events))
    await routed(application, channel, 2)
    await in_order(application)
    assert [each["data"] for each in await routed(application, channel, 2)] == [1, 3]


async def test_the_status_on_each_agent_is_shown_as_it_was_reported_last(
    application: Application, link: AgentLink, name: str, needs: Any
) -> None:
    made = await make(application, name, "timer", needs)

    async def statuses() -> list[dict[str, Any]]:
        found = (await application.reader.get(f"/eventing/instances/{made['Id']}/status")).json()
        return [each["Status"] for each in found]

    assert [each["Status"] for each in await statuses()] == ["New"]
    now = SystemClock().now()
    status: EventSourceStatus = started(new_status(now), now)
    await report(link, states=[(made["Id"], status)])

    async def reported() -> list[dict[str, Any]]:
        return [each for each in await statuses() if each["Status"] == "Started"]

    [shown] = await until(reported)
    assert [move["NewStatus"] for move in shown["Messages"]] == ["Initializing", "Initialized", "Starting", "Started"]


async def test_the_agents_concerned_are_told_when_event_sources_change_and_no_others(
    application: Application, name: str
) -> None:
    told: list[str] = []

    async def note(received: Any) -> None:
        told.append(received.subject)

    async with (
        linked_agent(application, f"agent-{name}", {"Environment": name}) as mine,
        linked_agent(application, f"other-{name}", {"Environment": f"{name}-other"}) as other,
    ):
        for link in (mine, other):
            await link.bus.subscribe(subjects.assigned(link.id, subjects.SOURCES), note)
        await make(application, name, "timer", [{"Identifier": "Environment", "Value": name}])
        await until(lambda: heard(told, mine))
        await make(application, f"{name}-other", "timer", [{"Identifier": "Environment", "Value": f"{name}-other"}])
        await until(lambda: heard(told, other))
        first, last = subjects.assigned(mine.id, subjects.SOURCES), subjects.assigned(other.id, subjects.SOURCES)
        assert list(dict.fromkeys(told)) == [first, last]


async def heard(told: list[str], link: AgentLink) -> bool:
    return subjects.assigned(link.id, subjects.SOURCES) in told
