"""Configuration documents over HTTP."""

from tests.application import Application

VARIABLE = "apiVersion: penstock/v1alpha1\nkind: Variable\nmetadata:\n  name: {name}\nspec:\n  value: {value}\n"
YAML = {"Content-Type": "application/yaml"}


async def test_documents_are_taken_as_a_json_string_and_as_yaml(application: Application) -> None:
    json = await application.admin.put("/configuration", json=VARIABLE.format(name="greeting", value="hello"))
    assert (json.status_code, json.content) == (202, b"")
    text = VARIABLE.format(name="farewell", value="bye")
    yaml = await application.admin.put("/configuration", content=text, headers=YAML)
    assert yaml.status_code == 202
    names = {variable["Name"] for variable in (await application.reader.get("/variables")).json()}
    assert {"greeting", "farewell"} <= names


async def test_a_refusal_names_document_line_and_field(application: Application) -> None:
    text = VARIABLE.format(name="fine", value="1x") + "---\n" + VARIABLE.format(name="'not fine'", value="x")
    answer = await application.admin.put("/configuration", content=text, headers=YAML)
    assert answer.status_code == 400
    [error] = answer.json()["errors"]
    assert error["field"] == "documents[1].metadata.name"
    assert error["message"].startswith("line 11: ")
    assert (await application.reader.get("/variables/fine")).status_code == 404


async def test_a_plan_changes_nothing(application: Application) -> None:
    text = VARIABLE.format(name="planned", value="x")
    answer = await application.admin.post("/configuration/plan", content=text, headers=YAML)
    [change] = answer.json()
    assert (change["Kind"], change["Name"], change["Action"], change["Before"]) == (
        "Variable",
        "planned",
        "create",
        None,
    )
    assert change["After"]["value"] == "x"
    assert (await application.reader.get("/variables/planned")).status_code == 404


async def test_more_than_16_mib_are_refused(application: Application) -> None:
    answer = await application.admin.put("/configuration", content=b"#" * (16 * 2**20 + 1), headers=YAML)
    assert answer.status_code == 413
    assert answer.json()["code"] == "too-large"


async def test_every_declared_kind_is_described(application: Application) -> None:
    kinds = (await application.reader.get("/configuration/kinds")).json()
    assert {"Schedule", "Variable"} <= {kind["Kind"] for kind in kinds}
    assert all(kind["Description"] and kind["Schema"]["type"] == "object" for kind in kinds)
