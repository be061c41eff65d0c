"""Variables over HTTP: applied by configuration documents, listed, revealed."""

import asyncio
import json
from typing import Any

import pytest

from penstock.resource.changes import Change, Changes
from penstock.resource.ports.variables import Variables
from tests.application import Application
from tests.areas.variables import MASK, document, events_of, put, read, refused, reveal


async def test_a_public_variable_is_answered_as_it_was_applied(application: Application, name: str) -> None:
    await put(application, name, value="blue", description="Colour of the door")
    expected = {"Name": name, "Description": "Colour of the door", "Value": "blue", "IsSecret": False}
    assert await read(application, name) == expected
    assert expected in (await application.reader.get("/variables")).json()


async def test_a_secret_is_masked_wherever_it_is_read_and_revealed_to_admins(
    application: Application, name: str
) -> None:
    await put(application, name, value="s3cret", isSecret=True)
    expected = {"Name": name, "Description": None, "Value": MASK, "IsSecret": True}
    assert await read(application, name) == expected
    assert expected in (await application.admin.get("/variables")).json()
    assert await reveal(application, name) == "s3cret"


@pytest.mark.parametrize("value", ["", " leading", "line\nbreak", 'quote"back\\slash', "ünïcödé 😀", "x" * 65536])
@pytest.mark.parametrize("secret", [True, False])
async def test_any_text_is_kept_exactly(application: Application, name: str, value: str, secret: bool) -> None:
    await put(application, name, value=value, isSecret=secret)
    assert await reveal(application, name) == value


async def test_variables_are_listed_newest_first(application: Application, name: str) -> None:
    await put(application, name, value="1")
    await put(application, name + "-later", value="2")
    await put(application, name, value="3")
    names = [variable["Name"] for variable in (await application.reader.get("/variables")).json()]
    assert names.index(name + "-later") < names.index(name)


async def test_names_are_compared_without_case(application: Application, name: str) -> None:
    await put(application, name, value="1")
    await put(application, name.upper(), value="2")
    found = await read(application, name)
    assert (found["Name"], found["Value"]) == (name.upper(), "2")
    listed = [each["Name"].lower() for each in (await application.reader.get("/variables")).json()]
    assert listed.count(name) == 1


async def test_the_e_tag_changes_with_every_change_and_only_then(application: Application, name: str) -> None:
    tags = []
    for value in ("1", "1", "2"):
        await put(application, name, value=value)
        tags.append((await application.reader.get(f"/variables/{name}")).headers["etag"])
    assert tags[0] == tags[1] != tags[2]


async def test_a_variable_is_gone_when_its_state_is_absent(application: Application, name: str) -> None:
    await put(application, name, value="1", isSecret=True)
    await put(application, name, state="absent")
    assert (await application.reader.get(f"/variables/{name}")).status_code == 404
    assert (await application.admin.get(f"/variables/{name}/reveal")).status_code == 404
    await put(application, name, state="absent")
    await put(application, name, value="2")
    assert await reveal(application, name) == "2"


async def test_an_unknown_variable_is_404(application: Application, name: str) -> None:
    for path in (f"/variables/{name}", f"/variables/{name}/reveal", "/variables/%00", "/variables/" + "x" * 5000):
        assert (await application.admin.get(path)).status_code == 404


# What is kept when a document leaves the value out


@pytest.mark.parametrize("again", [{}, {"value": None}, {"value": MASK}])
async def test_a_secret_keeps_its_value_when_the_document_has_none_or_the_mask(
    application: Application, name: str, again: dict[str, Any]
) -> None:
    await put(application, name, value="s3cret", isSecret=True)
    await put(application, name, **again, isSecret=True, description="Now with a description")
    assert await reveal(application, name) == "s3cret"
    assert (await read(application, name))["Description"] == "Now with a description"


async def test_a_new_variable_needs_a_value(application: Application, name: str) -> None:
    assert (await refused(application, name, isSecret=True)).keys() == {"spec.value"}
    assert (await refused(application, name, isSecret=True, value=MASK)).keys() == {"spec.value"}


async def test_the_description_of_the_metadata_stands_in(application: Application, name: str) -> None:
    applied = document(name, value="1")
    applied["metadata"]["description"] = "From the metadata"
    await application.apply(applied)
    assert (await read(application, name))["Description"] == "From the metadata"


# Secret or not


async def test_a_public_variable_can_be_made_secret(application: Application, name: str) -> None:
    await put(application, name, value="was public")
    await put(application, name, isSecret=True)
    assert (await read(application, name))["Value"] == MASK
    assert await reveal(application, name) == "was public"


async def test_a_secret_can_be_made_public_only_with_its_value_in_the_document(
    application: Application, name: str
) -> None:
    await put(application, name, value="s3cret", isSecret=True)
    for spec in ({"isSecret": False}, {"value": MASK, "isSecret": False}, {}):
        assert (await refused(application, name, **spec)).keys() == {"spec.value"}
    assert (await read(application, name))["Value"] == MASK
    await put(application, name, value="s3cret", isSecret=False)
    assert (await read(application, name))["Value"] == "s3cret"
    assert await reveal(application, name) == "s3cret"


async def test_the_audit_log_never_has_values_whichever_way_is_secret_changes(
    application: Application, name: str
) -> None:
    for value, secret in (
        ("first-value", False),
        ("first-value", True),
        ("second-value", True),
        ("third-value", False),
    ):
        await put(application, name, value=value, isSecret=secret)
    await reveal(application, name)
    events = await events_of(application, name)
    acts = [event["EventType"].removeprefix("variables.") for event in events]
    assert acts == ["created", "updated", "updated", "updated", "revealed"]
    afters = [json.loads(event["Content"])["After"] for event in events[:4]]
    assert [(after["IsSecret"], after["ValueChanged"]) for after in afters] == [
        (False, True),
        (True, False),
        (True, True),
        (False, True),
    ]
    assert "-value" not in json.dumps(events)


async def test_a_plan_shows_no_secret_of_before_or_after(application: Application, name: str) -> None:
    await put(application, name, value="old-s3cret", isSecret=True)
    for spec in ({"value": "new-s3cret", "isSecret": True}, {"value": "new-s3cret"}, {"isSecret": True}):
        text = json.dumps(document(name, **spec))
        answer = await application.admin.post("/configuration/plan", json=text)
        assert answer.status_code == 200
        assert "s3cret" not in answer.text
    removal = await application.admin.post("/configuration/plan", json=json.dumps(document(name, "absent")))
    assert removal.json()[0]["Action"] == "remove"
    assert "s3cret" not in removal.text


async def test_a_plan_tells_what_differs(application: Application, name: str) -> None:
    async def action(**spec: Any) -> str:
        answer = await application.admin.post("/configuration/plan", json=json.dumps(document(name, **spec)))
        return str(answer.json()[0]["Action"])

    assert await action(value="1") == "create"
    await put(application, name, value="1", isSecret=True)
    assert await action(value="1", isSecret=True) == "keep"
    assert await action(isSecret=True) == "keep"
    assert await action(value="2", isSecret=True) == "change"
    assert await action(value="1", isSecret=True, description="x") == "change"
    assert await action(value="1", isSecret=False) == "change"


# Wrong input


async def test_everything_wrong_with_a_document_is_told_at_once(application: Application) -> None:
    errors = await refused(application, "not a name", value="a\0b", description="x" * 1025)
    assert errors.keys() == {"metadata.name", "spec.value", "spec.description"}


@pytest.mark.parametrize("spec", [{"value": 5}, {"value": "x", "isSecret": "yes"}, {"value": "x", "IsSecret": True}])
async def test_a_wrong_type_or_an_unknown_field_is_refused(
    application: Application, name: str, spec: dict[str, Any]
) -> None:
    assert len(await refused(application, name, **spec)) == 1


async def test_a_value_beyond_64_kib_is_refused(application: Application, name: str) -> None:
    assert (await refused(application, name, value="é" * 32769)).keys() == {"spec.value"}


async def test_a_refused_document_does_not_repeat_the_secret(application: Application, name: str) -> None:
    for text in (
        json.dumps(document(name, value="s3cret-\0", isSecret=True)),
        json.dumps({**document(name, value="s3cret-a", isSecret=True), "s3cret": 1}).replace('"s3cret"', '"other"'),
        "kind: Variable\nmetadata: {name: x}\nspec:\n  value: s3cret-b\n   isSecret: true\n",
        "kind: Variable\nspec: {value: s3cret-c, value: s3cret-d}\n",
        "kind: Variable\nspec: {value: 's3cret-e\n",
        "kind: Variable\nspec: {value: [s3cret-g]}\n",
    ):
        answer = await application.admin.put("/configuration", json=text)
        assert answer.status_code == 400
        assert "s3cret" not in answer.text


# Who may


async def test_readers_read_and_only_admins_reveal(application: Application, name: str) -> None:
    await put(application, name, value="s3cret", isSecret=True)
    for client, statuses in (
        (application.anonymous, (401, 401, 401)),
        (application.reader, (200, 200, 403)),
        (application.operator, (200, 200, 403)),
        (application.admin, (200, 200, 200)),
    ):
        paths = ("/variables", f"/variables/{name}", f"/variables/{name}/reveal")
        assert tuple([(await client.get(path)).status_code for path in paths]) == statuses


async def test_every_reveal_is_in_the_audit_log_for_public_variables_too(application: Application, name: str) -> None:
    await put(application, name, value="blue")
    await reveal(application, name)
    await application.reader.get(f"/variables/{name}/reveal")
    await reveal(application, name)
    events = await events_of(application, name)
    assert [(event["EventType"], event["Source"]) for event in events[1:]] == [("variables.revealed", "admin")] * 2


# For other parts of the platform


async def test_other_areas_get_values_by_the_names_they_ask_for(application: Application, name: str) -> None:
    await put(application, name, value="blue")
    await put(application, name + "-secret", value="s3cret", isSecret=True)
    variables = application.platform.container.get(Variables)
    asked = [name.upper(), name, f"{name}-SECRET", "unknown", "no name", "a\0b"]
    assert await variables.values(asked) == {
        name.upper(): ("blue", False),
        name: ("blue", False),
        f"{name}-SECRET": ("s3cret", True),
    }
    assert await variables.values([]) == {}


async def test_changes_are_told_to_who_listens(application: Application, name: str) -> None:
    told: list[str] = []

    async def hear(change: Change) -> None:
        told.extend(change.names)

    listening = await application.platform.container.get(Changes).follow("variables", hear)
    try:
        await put(application, name, value="1")
        await put(application, name, value="1")
        await put(application, name, state="absent")
        async with asyncio.timeout(20):
            while told.count(name) < 2:
                await asyncio.sleep(0.01)
    finally:
        await listening.stop()
    assert told.count(name) == 2


async def test_of_changes_at_once_none_is_mixed_with_another(application: Application, name: str) -> None:
    await put(application, name, value="0", isSecret=True)
    answers = await asyncio.gather(
        *(
            application.apply(document(name, value=f"secret-{n}" if n % 2 else f"public-{n}", isSecret=bool(n % 2)))
            for n in range(10)
        )
    )
    assert {answer.status_code for answer in answers} <= {202, 412}
    found = await read(application, name)
    value = await reveal(application, name)
    assert value.startswith("secret-" if found["IsSecret"] else "public-")
    assert found["Value"] == (MASK if found["IsSecret"] else value)
