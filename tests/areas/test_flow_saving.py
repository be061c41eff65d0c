"""Saving flows: what is taken, what is refused, and the versions that it makes."""

import asyncio
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest

from penstock.protocol import subjects
from penstock.protocol.report import IntegrationFlowStatusEnum
from penstock.protocol.work import FileAnswer, FileQuery, IntegrationStatusEnum2
from tests.application import Application
from tests.areas.agent_link import AgentLink, linked_agent
from tests.areas.saved import SPEC, errors, flow_of, read, save, saved
from tests.areas.scheduled import apply, removal, schedule
from tests.areas.waiting import until

ANOTHER = SPEC.replace("hello", "good morning")


async def test_a_saved_flow_is_stopped_until_it_is_started(
    application: Application, link: AgentLink, name: str
) -> None:
    answer = await saved(application, flow_of(name))
    assert answer.json()["FlowSpec"] == SPEC
    assert (await link.work(name))[name].requested is IntegrationStatusEnum2.STOPPED
    started = await application.operator.post(f"/integrations/flows/start?integrationFlowName={name}")
    assert started.status_code == 202
    assert (await link.work(name))[name].requested is IntegrationStatusEnum2.STARTED


async def test_post_saves_and_starts(application: Application, link: AgentLink, name: str) -> None:
    answer = await application.operator.post("/integrations/flows", json=flow_of(name))
    assert (answer.status_code, answer.json()["Name"]) == (202, name)
    item = (await link.work(name))[name]
    assert (item.requested, item.spec) == (IntegrationStatusEnum2.STARTED, SPEC)


async def test_a_start_tries_a_flow_again_that_is_in_error_and_leaves_others_alone(
    application: Application, link: AgentLink, name: str
) -> None:
    async def start() -> str:
        assert (await application.operator.post(f"/integrations/flows/start?integrationFlowName={name}")).is_success
        return (await link.work(name))[name].stamp

    await application.operator.post("/integrations/flows", json=flow_of(name))
    first = (await link.work(name))[name].stamp
    assert await start() == first
    await link.report_state(name, IntegrationFlowStatusEnum.ERROR, message="crashed 5 times")

    async def in_error() -> bool:
        found = (await application.reader.get(f"/integrations/flows/{name}/agents")).json()
        return [each["Message"] for each in found] == ["crashed 5 times"]

    await until(in_error)
    assert await start() != first


async def test_a_flow_is_answered_as_it_was_saved(application: Application, name: str) -> None:
    body = flow_of(
        name,
        Project="orders",
        Category="billing",
        Labels=["a", "b"],
        Variables={"Host": "example.com", "Port": 8080, "Nested": {"keepCase": [1, None]}},
        IntegrationFiles=[{"FileName": "über.sql", "FileContent": "select 'ß'"}],
        AdditionalPackages="requests==2.32.0",
        Readme="# What it does",
    )
    answer = await saved(application, body)
    assert answer.json() == body
    found = await read(application, name)
    assert found["Properties"] == body["Variables"]
    assert found["Files"] == body["IntegrationFiles"]
    assert [found[each] for each in ("Project", "Category", "Labels", "Readme", "AdditionalPackages", "Version")] == [
        "orders",
        "billing",
        ["a", "b"],
        "# What it does",
        "requests==2.32.0",
        "1",
    ]


async def test_each_save_is_a_version_also_one_that_changes_nothing(
    application: Application, link: AgentLink, name: str
) -> None:
    stamps = []
    for spec in (SPEC, ANOTHER, ANOTHER):
        await saved(application, flow_of(name, spec))
        stamps.append((await link.work(name))[name].stamp)
    assert len(set(stamps)) == 3
    assert (await read(application, name.upper()))["Version"] == "3"
    listed = (await application.reader.get(f"/integrations/flows/{name}/versions")).json()
    assert [(each["Version"], each["IsCurrent"]) for each in listed] == [("3", True), ("2", False), ("1", False)]
    assert {each["SavedBy"] for each in listed} == {"operator@example.com"}


async def test_an_earlier_version_can_be_read_and_restored(application: Application, name: str) -> None:
    files = [{"FileName": "a.txt", "FileContent": "first"}]
    await saved(application, flow_of(name, IntegrationFiles=files))
    await saved(application, flow_of(name, ANOTHER))
    path = f"/integrations/flows/{name}/versions/1"
    assert (await application.reader.get(path)).json()["IntegrationFiles"] == files
    restored = await application.operator.post(f"{path}/restore")
    assert (restored.status_code, restored.json()["FlowSpec"]) == (201, SPEC)
    found = await read(application, name)
    assert (found["Version"], found["Files"]) == ("3", files)
    for version in ("4", "0", "01", "x"):
        answer = await application.reader.get(f"/integrations/flows/{name}/versions/{version}")
        assert answer.status_code == 404


async def test_saves_at_the_same_time_are_versions_one_after_the_other(application: Application, name: str) -> None:
    answers = await asyncio.gather(*(save(application, flow_of(name, Readme=str(number))) for number in range(6)))
    assert {answer.status_code for answer in answers} == {201}
    listed = (await application.reader.get(f"/integrations/flows/{name}/versions?count=1000")).json()
    assert [each["Version"] for each in listed] == ["6", "5", "4", "3", "2", "1"]


async def test_a_mistake_in_the_spec_is_told_with_its_place_and_nothing_is_saved(
    application: Application, name: str
) -> None:
    await saved(application, flow_of(name))
    spec = "- from:\n    uri: timer:tick\n    steps:\n      - setBodi: {constant: x}\n      - to: {uri: 'exek:ls'}\n"
    found = await errors(application, flow_of(name, spec))
    assert [field for field, _ in found] == ["FlowSpec", "FlowSpec"]
    assert found[0][1].startswith("line 4, column 9: ")
    assert "did you mean 'setBody'?" in found[0][1]
    assert found[1][1].startswith("line 5, column ")
    assert "did you mean 'exec'?" in found[1][1]
    assert (await read(application, name))["Version"] == "1"


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"Name": ""}, "Name", "is required"),
        ({"Name": "../etc"}, "Name", "must be 1 to 128"),
        ({"FlowSpec": " "}, "FlowSpec", "is required"),
        ({"FlowSpec": "- " * 2_000_000}, "FlowSpec", "at most 1024 KiB"),
        ({"Labels": ["x" * 300]}, "Labels[0]", "at most 256 characters"),
        ({"Project": "a\0b"}, "Project", "without NUL"),
        ({"Variables": {"not a name": 1}}, "Variables.not a name", "must be 1 to 128"),
        ({"Variables": {"a": 1, "A": 2}}, "Variables.A", "given twice"),
        ({"Requirements": [{"Value": "x"}]}, "Requirements[0].Identifier", "is required"),
    ],
)
async def test_what_does_not_fit_is_refused_by_field(
    application: Application, name: str, fields: dict[str, Any], field: str, message: str
) -> None:
    [(told, reason)] = await errors(application, flow_of(name, **fields))
    assert told == field
    assert message in reason


@pytest.mark.parametrize(
    "file", ["", ".", "..", "../up", "a/b", "/etc/passwd", "a\\b", "line\nbreak", " blank", "x" * 201, "\u2028"]
)
async def test_a_file_cannot_leave_the_flows_folder(application: Application, name: str, file: str) -> None:
    files = [{"FileName": "good.txt", "FileContent": ""}, {"FileName": file, "FileContent": ""}]
    [(field, _)] = await errors(application, flow_of(name, IntegrationFiles=files))
    assert field == "IntegrationFiles[1].FileName"


async def test_files_whose_names_differ_in_case_alone_are_refused(application: Application, name: str) -> None:
    files = [{"FileName": each, "FileContent": ""} for each in ("Query.sql", "query.SQL")]
    [(field, message)] = await errors(application, flow_of(name, IntegrationFiles=files))
    assert (field, "given twice" in message) == ("IntegrationFiles[1].FileName", True)


async def test_a_flow_of_more_than_16_mib_is_refused(application: Application, name: str) -> None:
    files = [{"FileName": "large.txt", "FileContent": "x" * (16 << 20)}]
    assert (await save(application, flow_of(name, IntegrationFiles=files))).status_code == 413


async def test_a_stale_etag_changes_nothing(application: Application, name: str) -> None:
    assert (await save(application, flow_of(name), **{"If-Match": '"any"'})).status_code == 412
    tag = (await saved(application, flow_of(name))).headers["etag"]
    assert (await application.reader.get(f"/integrations/flows/{name}")).headers["etag"] == tag
    assert (await save(application, flow_of(name, ANOTHER), **{"If-Match": tag})).status_code == 201
    stale = {"If-Match": tag}
    assert (await save(application, flow_of(name), **stale)).status_code == 412
    path = f"/integrations/flows/{name}"
    assert (await application.operator.post(f"{path}/versions/1/restore", headers=stale)).status_code == 412
    assert (await application.operator.delete(path, headers=stale)).status_code == 412
    assert (await read(application, name))["Version"] == "2"


async def test_a_flow_that_a_schedule_makes_is_not_overwritten(application: Application, name: str) -> None:
    await apply(application, schedule(name))
    answer = await save(application, flow_of(f"schedule-{name}"))
    assert (answer.status_code, answer.json()["code"]) == (409, "name-taken")
    assert f"Schedule '{name}'" in answer.json()["detail"]
    await apply(application, removal(name))


async def test_only_operators_save(application: Application, name: str) -> None:
    assert (await application.reader.put("/integrations/flows", json=flow_of(name))).status_code == 403
    assert (await application.reader.post("/integrations/flows", json=flow_of(name))).status_code == 403


async def test_the_audit_log_has_no_values_and_no_contents(application: Application, name: str) -> None:
    files = [{"FileName": "key.pem", "FileContent": "top secret content"}]
    answer = await saved(application, flow_of(name, Variables={"Password": "hunter2"}, IntegrationFiles=files))
    id = UUID(answer.headers["etag"].strip('"').partition("-")[0])
    query = {"entityId": str(id), "fromDate": "2020-01-01", "toDate": "2100-01-01"}
    found = (await application.admin.get("/events/store", params=query)).json()
    [event] = [each for each in found if each["EventType"] == "flows.created"]
    assert "Password" in event["Content"]
    assert "hunter2" not in event["Content"]
    assert "top secret content" not in event["Content"]


async def test_an_agent_gets_the_files_of_its_flows_piece_by_piece_and_no_others(
    application: Application, link: AgentLink, name: str
) -> None:
    content = "0123456789abcdef" * 80_000  # more than two pieces
    await saved(application, flow_of(name, IntegrationFiles=[{"FileName": "big.txt", "FileContent": content}]))
    [file] = (await link.work(name))[name].files
    assert (file.name, file.size) == ("big.txt", len(content))
    pieces: list[bytes] = []
    while (piece := (await link.ask(subjects.FILES, _query(file.sha256, len(pieces)), FileAnswer)).content) is not None:
        pieces.append(piece)
    assert b"".join(pieces).decode() == content
    assert sha256(content.encode()).hexdigest() == file.sha256
    async with linked_agent(application, f"other-{name}", {"Environment": "another"}) as other:
        assert (await other.ask(subjects.FILES, _query(file.sha256, 0), FileAnswer)).content is None


def _query(digest: str, number: int) -> FileQuery:
    return FileQuery(sha256=digest, number=number)


async def test_a_document_saves_a_flow_and_one_that_changes_nothing_makes_no_version(
    application: Application, link: AgentLink, name: str
) -> None:
    spec = {
        "flowSpec": SPEC,
        "started": True,
        "variables": {"Host": "example.com"},
        "integrationFiles": [{"fileName": "a.txt", "fileContent": "a"}],
        "requirements": [{"identifier": "Environment", "value": name}],
    }
    document = {
        "apiVersion": "penstock/v1alpha1",
        "kind": "IntegrationFlow",
        "metadata": {"name": name, "category": "billing"},
        "spec": spec,
    }
    for _ in range(2):
        await apply(application, document)
    found = await read(application, name)
    assert (found["Version"], found["RequestedStatus"], found["Category"]) == ("1", 1, "billing")
    await apply(application, {**document, "spec": {**spec, "flowSpec": ANOTHER}})
    item = (await link.work(name))[name]
    assert (item.version, item.spec, item.variables) == ("2", ANOTHER, {"Host": "example.com"})
    broken = {**spec, "flowSpec": "- from: {uri: 'nowhere:x', steps: []}", "integrationFiles": [{"fileName": ".."}]}
    refused = await application.apply({**document, "spec": broken})
    assert refused.status_code == 400
    assert {each["field"].split(".", 1)[1] for each in refused.json()["errors"]} == {
        "spec.flowSpec",
        "spec.integrationFiles[0].fileName",
    }
    await apply(application, {**document, "metadata": {"name": name, "state": "absent"}})
    assert (await application.reader.get(f"/integrations/flows/{name}")).status_code == 404
